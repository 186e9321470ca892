#pragma once
// SPNGTorchTensorSetToFrameFanin: from the tensors of all groups back to a frame, or to one frame for each
// anode, by channel number.

#include "spng/graph/asynchronous_output.h"
#include "spng/graph/node.h"
#include "spng/nodes/frame/device_row_scatter.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

struct TorchTensorSetToFrameFaninConfig {
    std::string groups = "SPNGViewGroups";
    int multiplicity = 1;
    std::vector<std::string> tags = {"signal"};
    std::vector<std::string> window_tags;
    std::vector<std::string> anodes;
    static constexpr auto fields() {
        using C = TorchTensorSetToFrameFaninConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::multiplicity, "multiplicity", "ports", at_least(1), "number of inputs"),
            field(&C::tags, "tags", "", not_empty(),
                  "tags of the frame: the tensors of that name from all inputs"),
            field(&C::window_tags, "window_tags", "", any(),
                  "further tags of events that are windows of a long readout"),
            field(&C::anodes, "anodes", "", any(),
                  "names of AnodePlane components: a frame of its own, at an output port each, for each of "
                  "them; empty: one frame with the channels of all anodes of the groups"));
    }
};

/// For each tag one tensor (channel, tick) on the host, rows in ascending channel number, all channels of the
/// anodes; those that no input has are zero. Tensors at a coarser sampling are repeated to ticks. Masks
/// become int16 0 and 1, all else float32. Summaries are gathered the same way. The frame of one of several
/// anodes has the channel masks and notes of that anode only.
///
/// On a device, frames are put together there and copied back without waiting.
class TorchTensorSetToFrameFanin : public NodeWith<TorchTensorSetToFrameFaninConfig>,
                                   public AsynchronousOutput {
public:
    std::vector<std::string> input_ports() const override;
    std::vector<std::string> output_ports() const override;

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// The rows of an output frame.
    struct Rows {
        std::vector<int> channels; ///< ascending
        std::shared_ptr<const ChannelTable> table;
        std::shared_ptr<const RowPositions> positions;
    };
    /// On the host, perhaps still arriving.
    static at::Tensor frame_of(const std::vector<RowBlock>& blocks, const Rows& rows, std::int64_t ticks);
    /// The same for one value per channel; undefined when there is none.
    static at::Tensor summary_of(const std::vector<RowBlock>& blocks, const Rows& rows);
    bool is_split() const { return !config().anodes.empty(); }
    /// The parts of a tensor that belong to the frame.
    std::vector<NamedTensor> parts_in(const Rows& rows, const NamedTensor& tensor) const;
    NamedTensor gather(const std::string& tag, const Ports& inputs, const Rows& rows) const;
    std::shared_ptr<const EventInfo> event_for(const Rows& rows,
                                               const std::shared_ptr<const EventInfo>& event) const;

    std::vector<Rows> m_frames; ///< by output port
};

} // namespace spng
