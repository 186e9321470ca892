// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGTorchService: a trained network, loaded and tested before the first event, and shared by nodes.

#include "spng/core/component.h"
#include "spng/instrument/control/time_limit.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/dnn/model_runner.h"
#include "spng/nodes/dnn/torch_script_model.h"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spng {

class Context;

struct TorchServiceConfig {
    std::string model;
    std::vector<std::string> features = {};
    std::vector<std::int64_t> probe;
    bool transpose = false;
    std::int64_t multiple = 16;
    std::int64_t concurrency = 1;
    std::int64_t memory_budget = 0;
    std::int64_t chunk_ticks = 0;
    std::int64_t halo = -1;
    std::string layout = "auto";
    std::int64_t timeout = 900;
    std::string forward = "local";
    std::string server;
    std::string remote_model;
    std::int64_t retries = 5;
    std::string bad_output = "error";
    static constexpr auto fields() {
        using C = TorchServiceConfig;
        return std::make_tuple(
            field(&C::model, "model", "", required(),
                  "TorchScript file or AOTInductor package (.pt2); same search path as data files"),
            field(&C::features, "features", "", any(),
                  "names of the features, in the order of the network; empty: those in its file, or loose, "
                  "mp2, mp3"),
            field(&C::probe, "probe", "1, 1, samples", required(at_least(1)),
                  "shape (view, channel, tick) of the images of this job, for a test of the network before "
                  "the first event"),
            field(&C::transpose, "transpose", "", any(),
                  "the last two axes of the network are (tick, channel); metadata of the file override this"),
            field(&C::multiple, "multiple", "samples", between(1, 4096),
                  "pad channels and ticks to multiples of this; metadata of the file override this"),
            field(&C::concurrency, "concurrency", "", between(1, 1024),
                  "maximum number of concurrent forward() calls"),
            field(&C::memory_budget, "memory_budget", "B", at_least(0),
                  "tensor memory of one forward; larger inputs are cut along ticks; 0: no limit"),
            field(&C::chunk_ticks, "chunk_ticks", "samples", at_least(0),
                  "cut inputs along ticks into tiles of this length, independent of the budget; 0: from the "
                  "budget"),
            field(&C::halo, "halo", "samples", at_least(-1),
                  "distance along ticks over which an output depends on the input; tiles overlap by it; -1: "
                  "from the metadata of the file, otherwise measured"),
            field(&C::layout, "layout", "", one_of("auto", "contiguous", "channels_last"),
                  "memory layout of a TorchScript network: contiguous, channels_last, or auto: as saved on "
                  "the CPU, on CUDA the faster one by a measurement before the first event"),
            field(&C::timeout, "timeout", "s", between(0, 1000000),
                  "maximum time of loading the network, and of one forward; a network that takes longer ends "
                  "wire-cell, a request to a server that takes longer fails the event; 0: no limit"),
            field(&C::forward, "forward", "", one_of("local", "kserve"),
                  "where the network runs: local, in this process; kserve, on a server that speaks KServe "
                  "v2; then "
                  "`model` names the network there, and a local file of that name gives the metadata"),
            field(&C::server, "server", "", any(),
                  "address of the server for forward=kserve: unix:PATH or HOST:PORT, for gRPC with grpc:// "
                  "before "
                  "it"),
            field(&C::remote_model, "remote_model", "", any(),
                  "name of the network on the server; empty: that of `model` without folder and ending"),
            field(&C::retries, "retries", "", between(0, 100),
                  "repetitions of a request after a lost connection or while the server is busy, with pauses "
                  "from "
                  "0.1 s to 5 s"),
            field(&C::bad_output, "bad_output", "", one_of("error", "warning"),
                  "values of the network that are NaN, infinite or outside of 0 to 1: error, which ends the "
                  "event; or warning, logged once and in the note network_output of each such event"));
    }
};

class TorchService : public ServiceWith<TorchServiceConfig>,
                     public instrument::Metered,
                     public DataFileReader {
public:
    /// Load the model onto the device of the job, compare it with the configuration, and run it once with
    /// the shape of the job, so that errors come before the first event.
    /// @throws Error(Model) naming the file if it is missing, damaged or not accepted (accepted_models.h), or if its
    ///         features, input shape or output shape do not match the job
    void prepare(Environment& environment) override;

    /// See ModelRunner::forward. Inside a node call it is measured as a nested call.
    /// @param features  stacked in the order of features()
    at::Tensor forward(const at::Tensor& features) const;

    /// See ModelRunner::forward_as_is.
    at::Tensor forward_as_is(const at::Tensor& input) const { return m_runner->forward_as_is(input); }

    /// Return whether an output that is no probability ends the event.
    bool rejects_output() const { return config().bad_output == "error"; }

    instrument::NodeMeter& meter() override { return *m_meter; }

    /// Names of the features, in the order of the network.
    const std::vector<std::string>& features() const { return m_features; }
    const ModelMetadata& metadata() const { return m_runner->model().metadata(); }
    /// Return the features before prepare(): those of the configuration, or else of a TorchScript file. Empty if neither
    /// gives them.
    std::vector<std::string> known_features() const;
    /// Return why forwards on a device cannot be captured in a graph; empty if they can.
    std::string capture_rejection() const;
    /// Whether the network runs on a server.
    bool is_remote() const { return config().forward == "kserve"; }
    /// Provenance for the output: name, checksum and metadata of the file, and a note if it is a stand-in.
    const Notes& notes() const { return m_notes; }

protected:
    void configured() override;

private:
    const std::string& data_file_name() const override { return config().model; }
    DataFile& identify_model();
    void prepare_local(const Context& context);
    void prepare_remote(const Context& context);
    std::string remote_name() const;
    /// Take what the network says about itself.
    void note_properties(const Model& model);
    ModelRunnerOptions runner_options(const Context& context, const ModelMetadata& metadata) const;
    /// Return the features of the configuration, or else of the model.
    /// @throws Error(Model) if both are given and differ
    std::vector<std::string> features_of(const Model& model) const;
    /// Load a network. This, and each forward, has the limit of the configuration.
    std::unique_ptr<const Model> load(const std::filesystem::path& file, c10::Device device, bool bfloat16,
                                      NetworkLayout layout) const;
    /// Measure layouts, unless this process has done so.
    /// @param key    of chosen_layout()
    /// @param model  in the chosen layout if there is one, else contiguous
    std::unique_ptr<const ModelRunner> faster_runner(const std::string& key,
                                                     std::unique_ptr<const Model> model,
                                                     const ModelRunnerOptions& options, bool bfloat16);
    /// Run the network once, so that one that cannot run ends the job before the first event. On the CPU, where a forward of a
    /// readout takes half a second, a piece of it is enough if the network's file says which lengths it takes.
    void try_out(c10::Device device) const;

    Notes m_notes;
    std::unique_ptr<TimeLimit> m_limit; ///< of loading and of each forward
    std::unique_ptr<const ModelRunner> m_runner;
    std::unique_ptr<instrument::NodeMeter> m_meter;
    std::vector<std::string> m_features;
    std::vector<std::int64_t> m_sizes; ///< (view, feature, channel, tick)
};

} // namespace spng
