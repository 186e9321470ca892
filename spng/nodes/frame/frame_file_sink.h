// SPDX-License-Identifier: Apache-2.0
#pragma once
// FrameFileSink: write events to a frame file.

#include "spng/graph/node.h"
#include "spng/io/archive/archive_writer.h"
#include "spng/io/file_user.h"
#include "spng/nodes/frame/frames_behind.h"

#include <memory>
#include <string>

namespace spng {

struct FrameFileSinkConfig {
    std::string outname;
    int level = -1;
    std::string frames = "dense";
    bool masks = true;
    bool write_behind = true;
    static constexpr auto fields() {
        using C = FrameFileSinkConfig;
        return std::make_tuple(
            field(&C::outname, "outname", "", required(), "frame file: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::level, "level", "", between(-1, 9),
                  "compression level, 0 (none) to 9 (smallest); -1: a fast level for the format, none for "
                  "sparse "
                  "frames in .npz"),
            field(&C::frames, "frames", "", one_of("dense", "sparse"),
                  "dense: all samples, which the Wire-Cell Toolkit reads too; sparse: the samples that are "
                  "not 0"),
            field(&C::masks, "masks", "", any(), "write the event's channel masks"),
            field(&C::write_behind, "write_behind", "", any(),
                  "compress and write an event on a background thread while the next one is processed"));
    }
};

/// In: sets of (channel, tick) tensors on the host, dense or sparse, see frame_from(). Both give the same file.
/// The file appears under its name when the job ends. A job that stops early keeps the complete events. If
/// writing fails, the file is removed and the job ends with an error, even if failed events are skipped.
class FrameFileSink : public NodeWith<FrameFileSinkConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_written() const override { return {config().outname}; }
    /// @throws Error(Configuration) also for an unknown ending
    void check_outputs() const override {
        FileUser::check_outputs();
        require_known_ending(config().outname);
    }
    void finish() override { m_writer->close(); }

protected:
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<FramesBehind> m_writer;
};

/// Convert a set of (channel, tick) tensors, dense or sparse, to a frame; inverse of set_from(). A tensor whose tick
/// axis begins or steps otherwise than the event gets the times of its axis.
/// @param with_masks  copy the channel masks of the event
Frame frame_from(const TensorSet& set, bool with_masks);

} // namespace spng
