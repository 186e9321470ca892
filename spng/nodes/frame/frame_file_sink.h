#pragma once
// FrameFileSink: events to a frame file.

#include "spng/graph/node.h"
#include "spng/io/file_user.h"
#include "spng/nodes/frame/frames_behind.h"

#include <memory>
#include <string>

namespace spng {

struct FrameFileSinkConfig {
    std::string outname;
    int level = -1;
    bool masks = true;
    bool write_behind = true;
    static constexpr auto fields() {
        using C = FrameFileSinkConfig;
        return std::make_tuple(
            field(&C::outname, "outname", "", required(), "frame file: .npz, .tar, .tar.gz or .tar.bz2"),
            field(&C::level, "level", "", between(-1, 9),
                  "compression, 0 none to 9 smallest; -1: chosen for time"),
            field(&C::masks, "masks", "", any(), "write the event's channel masks"),
            field(&C::write_behind, "write_behind", "", any(),
                  "compress and write an event while the next one is worked on"));
    }
};

/// The file appears under its name when the job ends; a job that stops early keeps the events that were
/// complete. When writing fails, the file is gone and the job ends with an error, also where failed events
/// are skipped.
class FrameFileSink : public NodeWith<FrameFileSinkConfig>, public FileUser {
public:
    std::vector<std::filesystem::path> files_written() const override { return {config().outname}; }
    void finish() override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::unique_ptr<FramesBehind> m_writer;
};

/// The frame that a set of (channel, tick) tensors is.
Frame frame_from(const TensorSet& set, bool with_masks);

} // namespace spng
