#pragma once
// FrameFileSource: events of a frame file, one set for each.

#include "spng/graph/node.h"
#include "spng/graph/source.h"
#include "spng/io/file_user.h"
#include "spng/io/joined_frame_reader.h"
#include "spng/nodes/frame/frames_ahead.h"
#include "spng/nodes/frame/readout_stream.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct FrameFileSourceConfig {
    std::string inname;
    std::vector<std::string> further_files;
    std::vector<std::string> tags = {"*"};
    int nevents = -1;
    bool read_ahead = true;
    WindowGrid window;
    bool series = false;
    static constexpr auto fields() {
        using C = FrameFileSourceConfig;
        return std::make_tuple(
            field(&C::inname, "inname", "", required(), "frame file: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::further_files, "further_files", "", any(),
                  "files with other channels of the same events, such as those of other anodes"),
            field(&C::tags, "tags", "", any(), "tags to read; \"*\" reads all"),
            field(&C::nevents, "nevents", "events", at_least(-1), "stop after so many events; -1: all"),
            field(&C::read_ahead, "read_ahead", "", any(),
                  "read and decompress the next event while the one before is worked on"),
            field(&C::window, "window", "", any(),
                  "how readouts longer than core, before and after together are cut into windows, each an "
                  "event"),
            field(&C::series, "series", "", any(),
                  "frames that follow each other in time, with the same channels, are one readout"));
    }
};

/// Each set holds one tensor per tag, named by the tag: (channel, tick) on the host with the frame's channel
/// numbers, of all files together. A file without any event is an error; damaged events are errors of that
/// event. Files other than regular ones, such as pipes, are not read ahead. Long readouts come as windows, as
/// ReadoutStream cuts them; of those no more than one and a frame are in memory.
class FrameFileSource : public NodeWith<FrameFileSourceConfig>, public EndAwareSource, public FileUser {
public:
    std::vector<std::filesystem::path> files_read() const override;
    bool at_end() const override { return has_given_enough() || (m_stream->empty() && m_reader->at_end()); }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    bool has_given_enough() const {
        return config().nevents >= 0 && m_events >= static_cast<std::uint64_t>(config().nevents);
    }

    [[noreturn]] void reject_empty_file() const;

    std::unique_ptr<FramesAhead<JoinedFrameReader>> m_reader;
    std::unique_ptr<ReadoutStream> m_stream;
    std::uint64_t m_asked = 0;
    std::uint64_t m_events = 0;
};

/// A frame as a set: the inverse is frame_from().
TensorSetPtr set_from(Frame frame, std::uint64_t index, std::optional<ReadoutWindow> window = std::nullopt);

} // namespace spng
