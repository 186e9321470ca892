// SPDX-License-Identifier: Apache-2.0
#pragma once
// The chain as an object: frames in the caller's memory in, charge waveforms with regions of interest (ROIs) out.
//
//     spng::PipelineOptions options;
//     options.detector = "pdhd";
//     spng::Pipeline pipeline(options);                   // reads files and tries the network: about a second
//     spng::InputFrame frame;
//     frame.samples = adc.data();                         // (channel, tick) int16
//     frame.channels = 2560;
//     frame.ticks = 6000;
//     const spng::OutputFrame result = pipeline.process(frame);
//
// This header needs C++17 and no LibTorch. docs/embedding.md has a whole program, and the rules of threads and binary
// compatibility.

#include "WireCellSpng/ChannelMasks.h"
#include "spng/core/error.h"
#include "spng/core/log/input_warning.h" // set_strict(): input that does not fit the detector is an error

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng {

enum class SampleType { int16, uint16, int32, int64, float32, float64 };

/// "int16", "float32", ...
const char* to_string(SampleType type);

/// One event of waveforms in the caller's memory. The memory is read until the result is there, and not copied.
struct InputFrame {
    /// (channel, tick) in C order [ADC]
    const void* samples = nullptr;
    /// int16 and float32 are read as they are. The other types are copied: to int16 if all values fit, else to float32 if
    /// they can be represented. float64 is rounded to float32.
    SampleType type = SampleType::int16;
    std::int64_t channels = 0;
    std::int64_t ticks = 0;
    /// Channel ids of the rows, all different. Empty: the channels of the pipeline's anodes, ascending.
    std::vector<int> channel_ids;
    int ident = 0;       ///< id of the event, copied to the result
    double start_ns = 0; ///< time of tick 0
    double tick_ns = 0;  ///< sampling period; 0: that of the detector's readout
    int first_tick = 0;  ///< ticks between start_ns and the first sample
    /// Of the input: "bad" ranges are treated as dead. Ticks count from start_ns: sample t is tick first_tick + t.
    ChannelMasks masks;
    /// Index of the CUDA device that holds `samples`, -1: host memory. All work that writes the samples must be complete.
    int cuda_device = -1;
    /// Keeps the memory alive, if the caller cannot; may be null. Released on any thread.
    std::shared_ptr<const void> owner;
};

/// The waveforms of one tag. Sample t of a row was taken at start_ns + (first_tick + t) * tick_ns.
struct OutputTraces {
    std::string tag;
    SampleType type = SampleType::float32; ///< float32 [electrons]; int16 for masks
    std::int64_t channels = 0;
    std::int64_t ticks = 0;
    std::vector<int> channel_ids; ///< of the rows
    double start_ns = 0;
    double tick_ns = 0;
    int first_tick = 0;
    /// Dense: (channel, tick) in C order. Sparse: the samples of all runs, one after the other.
    const void* samples = nullptr;
    bool is_sparse = false;
    /// Sparse: (run, 3) row, begin tick, end tick (not included). All samples outside of the runs are 0.
    const std::array<std::int32_t, 3>* runs = nullptr;
    std::int64_t run_count = 0;
    std::vector<double> summary; ///< empty, or one value per row, such as its noise RMS
    int cuda_device = -1;        ///< index of the device that holds `samples`; -1: host memory
    /// Keeps `samples` and `runs` alive. On a device, the next event may use the memory as soon as this is released: not
    /// before the caller's work that reads the samples is complete.
    std::shared_ptr<const void> owner;
};

/// The result of one event.
struct OutputFrame {
    int ident = 0;
    std::vector<OutputTraces> traces; ///< in the order of PipelineOptions::tags
    /// Of the input, and those that the chain found ("nan", "saturated", ...). Ticks count from start_ns.
    ChannelMasks masks;
    std::map<std::string, std::string> notes; ///< provenance, such as the network and its checksum
    double waited_seconds = 0;                ///< between submit() and the start of its processing
    double run_seconds = 0;                   ///< from there to the result
};

struct PipelineOptions {
    /// The arguments detname, tpcid, model, device and tags of cfg/pipeline.jsonnet.
    std::string detector = "pdhd";
    std::vector<int> anodes = {0};
    std::string model = "default";
    std::string device = "auto";
    std::vector<std::string> tags = {"signal"};
    bool sparse = false; ///< results as ROIs only
    /// true: results of a CUDA device stay in its memory. Ignored on the CPU.
    bool results_on_device = false;
    /// Further arguments by name, as text ("noise_filter": "sticky,lines").
    std::map<std::string, std::string> arguments;
    /// Keys of components to set in the evaluated configuration, as with wire-cell --set: "TYPE:INSTANCE.KEY=VALUE".
    std::vector<std::string> changes;
    /// Another configuration. Its graph has one SPNGMemorySource and one SPNGMemorySink. It gets `arguments`, and those of
    /// the members above that differ from their defaults, under the names of the arguments of cfg/pipeline.jsonnet.
    std::string configuration;
    /// Frames that may wait. submit() blocks while the queue is full.
    std::size_t queue_size = 4;
};

/// The channels of one wire plane of one anode.
struct PlaneChannels {
    int anode = 0;
    int plane = 0;                ///< 0 U, 1 V, 2 W
    std::vector<int> channel_ids; ///< ascending
};

/// A warm pipeline: files, tables, network and device are kept for as long as it lives. All members may be called from
/// any thread at the same time, except the destructor. Several pipelines may exist. Writes nothing to stdout and
/// stderr (see set_log_handler()). In a child of fork() all members throw Error(Usage), and the destructor does nothing.
class Pipeline {
public:
    /// Read the configuration and prepare the chain.
    /// @throws Error of the configuration, of static input, of the device or of the network; nothing is left behind
    explicit Pipeline(const PipelineOptions& options);
    /// As close().
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    /// Process one frame and return its result.
    /// @throws Error(Input) for a frame that the chain rejects (as from a file); Error of the run. The pipeline can be
    /// used again after every error but the loss of its last device
    OutputFrame process(InputFrame frame);

    /// Queue one frame. Block while the queue is full. Results become ready in the order of the frames, errors possibly earlier.
    /// @return the result, or the Error that process() would throw
    /// @throws Error(Input) at once for a frame that can be rejected by its description; Error(Usage) after close()
    std::future<OutputFrame> submit(InputFrame frame);

    /// Process the queued frames, then free the chain. Later calls of process() and submit() throw Error(Usage).
    void close();
    bool is_closed() const;

    /// The channels of each plane, ordered by anode and plane; empty for a configuration without SPNGFrameToTorchSetFanout.
    const std::vector<PlaneChannels>& planes() const;
    /// The devices that process frames, "cpu" or "cuda:0".
    const std::vector<std::string>& devices() const;
    /// The sampling period of the frames [ns]; 0 if planes() is empty.
    double tick_ns() const;

    /// The timing of all frames so far: the JSON document of wire-cell --timing.
    std::string timing_json() const;
    /// The same as the table of wire-cell, at most so many characters wide.
    std::string timing_text(std::size_t width = 100) const;

private:
    class Impl;
    std::unique_ptr<Impl> m_impl;
};

/// Receives log lines of the process. Called on any thread. It cannot call a Pipeline, which would wait for it: Error(Usage).
/// @param level  trace, debug, info, warn, error or critical
using LogHandler =
    std::function<void(const std::string& level, const std::string& logger, const std::string& text)>;

/// Send the log lines of the process to a handler, warnings and worse, or those of `level` and worse. Without a handler
/// a process with a Pipeline logs nothing. An empty handler removes the present one.
/// @throws Error(Usage) for an unknown level
void set_log_handler(LogHandler handler, const std::string& level = "warn");

} // namespace spng
