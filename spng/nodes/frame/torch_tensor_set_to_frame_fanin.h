// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGTorchTensorSetToFrameFanin: gather the tensors of all view groups into one frame, or one frame per
// anode.

#include "spng/graph/node.h"
#include "spng/nodes/channels/fault_copies.h"
#include "spng/nodes/frame/compact_frame.h"
#include "spng/nodes/frame/device_row_scatter.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct TorchTensorSetToFrameFaninConfig {
    std::string groups = "SPNGViewGroups";
    int multiplicity = 1;
    std::vector<std::string> tags = {"signal"};
    std::vector<std::string> window_tags;
    std::vector<std::string> anodes;
    bool results_on_device = false;
    static constexpr auto fields() {
        using C = TorchTensorSetToFrameFaninConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::multiplicity, "multiplicity", "ports", at_least(1), "number of inputs"),
            field(&C::tags, "tags", "", not_empty(),
                  "tags of the frame, gathered from the tensors of these names of all inputs"),
            field(&C::window_tags, "window_tags", "", any(),
                  "additional tags for the readout windows of a long readout"),
            field(&C::anodes, "anodes", "", any(),
                  "names of AnodePlane components: one frame and one output port for each; empty: one frame "
                  "with the channels of all anodes of the groups"),
            field(&C::results_on_device, "results_on_device", "", any(),
                  "leave the frames of a device there, dense, for a sink that takes them from its memory"));
    }
};

/// In: sets of (view, channel, sample) tensors of all groups. Out: per tag one tensor (channel, tick) on the
/// host with all channels of the anodes, in ascending channel id. Rows of channels that no input has are
/// zero. Samples at a coarser period are repeated to ticks. Masks become int16 0 and 1, all other tensors
/// float32. Summaries are gathered in the same way. With `anodes`, each frame has the channel masks and notes
/// of its anode only. Faults of channels (ChannelTable::fault) become channel masks (add_faults).
///
/// On a device, frames are assembled there and copied back asynchronously. Tags whose rows are compacted
/// (CompactedRows) come back as the samples inside ROIs only, and become SparseSamples; in readout windows, which
/// SPNGStitchWindows cuts, they are dense. Packed masks are expanded on the host.
///
/// With results_on_device all tags are dense tensors of the device, complete when the event's stream has reached the end of
/// the call. Summaries and findings are copied to the host as always.
class TorchTensorSetToFrameFanin : public NodeWith<TorchTensorSetToFrameFaninConfig> {
public:
    std::vector<std::string> input_ports() const override;
    std::vector<std::string> output_ports() const override;

    /// Log how many events needed a second copy.
    void finish() override;

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// Rows of an output frame.
    struct Rows {
        std::vector<int> channels; ///< ascending
        std::shared_ptr<const ChannelTable> table;
        std::shared_ptr<const RowPositions> positions;
        std::shared_ptr<CopiedShare> share;
    };
    /// A tag of a frame: its tensors, and the result as far as it is known before the copies are complete.
    struct Gathered {
        NamedTensor tensor;
        std::optional<CompactTag> compact;
    };
    /// @return on the host, where the copy from a device may still be running; or on the device
    at::Tensor frame_of(const std::vector<RowBlock>& blocks, const Rows& rows, std::int64_t ticks) const;
    /// Gather one value per channel; undefined without blocks.
    static at::Tensor summary_of(const std::vector<RowBlock>& blocks, const Rows& rows);
    bool is_split() const { return !config().anodes.empty(); }
    /// Whether a view of these channels (view, channel) belongs to the frame.
    static bool has_view(const Rows& rows, const at::Tensor& ids);
    /// Append the views of a tensor that belong to the frame.
    void add_parts(const Rows& rows, const NamedTensor& tensor, std::vector<NamedTensor>& parts) const;
    Gathered gather(const std::string& tag, const Ports& inputs, const Rows& rows) const;
    TensorSetPtr frame(const std::vector<std::string>& tags, const Ports& inputs, const Rows& rows) const;
    /// Return the frame with what was found on the device.
    TensorSetPtr with_findings(const TensorSet& frame, const std::vector<Found>& found, const Rows& rows,
                               const std::vector<FaultCopy>& faults) const;
    /// Return the event with the channel masks of the frame's channels only.
    std::shared_ptr<const EventInfo> event_for(const Rows& rows,
                                               const std::shared_ptr<const EventInfo>& event) const;

    std::vector<Rows> m_frames; ///< by output port
};

} // namespace spng
