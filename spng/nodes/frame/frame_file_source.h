// SPDX-License-Identifier: Apache-2.0
#pragma once
// FrameFileSource: read the events of a frame file, one set per event.

#include "spng/graph/node.h"
#include "spng/io/file_user.h"
#include "spng/io/joined_frame_reader.h"
#include "spng/nodes/frame/frames_ahead.h"
#include "spng/nodes/frame/readout_stream.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct FrameFileSourceConfig {
    std::string inname;
    std::vector<std::string> further_files;
    std::vector<std::string> tags = {"*"};
    int nevents = -1;
    int read_ahead = -1;
    WindowGrid window;
    bool series = false;
    static constexpr auto fields() {
        using C = FrameFileSourceConfig;
        return std::make_tuple(
            field(&C::inname, "inname", "", required(), "frame file: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::further_files, "further_files", "", any(),
                  "files with other channels of the same events, for example of other anodes"),
            field(&C::tags, "tags", "", not_empty(), "tags to read; \"*\" reads all"),
            field(&C::nevents, "nevents", "events", at_least(-1), "maximum number of events; -1: all"),
            field(&C::read_ahead, "read_ahead", "events", at_least(-1),
                  "events to read and decompress while the current one is processed, each on a background "
                  "thread; -1: 1 on the CPU, 4 on CUDA"),
            field(&C::window, "window", "", any(),
                  "cut readouts longer than before + core + after into readout windows, one event each"),
            field(&C::series, "series", "", any(),
                  "join consecutive frames in time with the same channels into one readout"));
    }
};

/// Out: one tensor (channel, tick) per tag on the host, named by the tag, with the channel ids of all files. Sparse
/// frames are expanded.
/// A file without any event is an error. A damaged event is an error of that event. Only regular files are
/// read ahead, pipes are not. ReadoutStream cuts long readouts into readout windows; at most one of them, one
/// frame and those read ahead are in memory.
///
/// For a CUDA device, samples are read into page-locked memory, so that they can be uploaded as they are. Readout
/// windows, and samples that must be converted, are in ordinary memory.
class FrameFileSource : public NodeWith<FrameFileSourceConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_read() const override;
    /// Read the first event, unless the file can be read only once.
    void check_files() const override;
    std::optional<double> share_done() const override { return m_share_done.load(); }
    bool at_end() const override { return is_limit_reached() || (m_stream->empty() && m_reader->at_end()); }

protected:
    void configured() override;
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    bool is_limit_reached() const {
        return config().nevents >= 0 && m_events >= static_cast<std::uint64_t>(config().nevents);
    }

    std::unique_ptr<FramesAhead<JoinedFrameReader>> m_reader;
    std::unique_ptr<ReadoutStream> m_stream;
    std::uint64_t m_calls = 0;
    std::uint64_t m_events = 0;
    std::atomic<double> m_share_done{0};
};

/// Convert a frame of dense traces to a set; inverse of frame_from(). Its first tensor has the notes.
/// @param index   of the event in the job
/// @param window  set if the frame is a readout window of a long readout
TensorSetPtr set_from(Frame frame, std::uint64_t index, std::optional<ReadoutWindow> window = std::nullopt);

} // namespace spng
