#pragma once
// SPNGFrameToTorchSetFanout: from a frame to one tensor for each group of views, cleaned and on the device.

#include "spng/graph/device_work_starter.h"
#include "spng/graph/node.h"
#include "spng/nodes/frame/channel_selection.h"
#include "spng/nodes/input_check/input_tally.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng {

class ViewGroups;
struct ViewGroup;

struct FrameToTorchSetFanoutConfig {
    std::string groups = "SPNGViewGroups";
    std::vector<std::string> output_groups;
    std::string intag;
    std::vector<std::string> bad_masks = {"bad"};
    int adc_bits = 14;
    std::string other_channels = "reject";
    std::int64_t default_nticks = 0;
    double readout_period = 500;
    std::string check;
    double max_bad_share = 0.05;
    static constexpr auto fields() {
        using C = FrameToTorchSetFanoutConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::output_groups, "output_groups", "", required(),
                  "names of the groups, one for each output port"),
            field(&C::intag, "intag", "", any(), "tag of the waveforms; empty: the only one of the frame"),
            field(&C::bad_masks, "bad_masks", "", any(),
                  "channel masks of the frame that mark dead channels and bad ticks"),
            field(&C::adc_bits, "adc_bits", "bits", between(0, 31),
                  "integer samples at 0 or 2^bits - 1 are listed as saturated; 0: not looked for"),
            field(&C::other_channels, "other_channels", "", one_of("reject", "ignore"),
                  "what to do with channels of other anodes than those of the groups"),
            field(&C::default_nticks, "default_nticks", "ticks", at_least(0),
                  "expected length of a readout, with which the chain is tried on a device before the first "
                  "event; 0: it is not tried"),
            field(&C::readout_period, "readout_period", "ns", above(0), "expected sampling period"),
            field(&C::check, "check", "", any(),
                  "name of the SPNGInputCheck component; empty: noise, polarity and pulse shape of the input "
                  "are not compared"),
            field(&C::max_bad_share, "max_bad_share", "", between(0, 1),
                  "share of an anode's channels that may be absent, NaN, out of range, dead or masked, or "
                  "saturated, without a warning"));
    }
};

/// Output port g holds the tensor of group g, named as the group: (view, channel, tick), int16 as it was read
/// (it becomes a real number on the device) or real. The masks "nan", "missing", "outofrange" and "saturated"
/// are added to the event. Counts of such channels go to the report of the run. The groups may be those of
/// several anodes, whose channels are then all in the frame; an anode without a single channel in it is an
/// error of the event.
///
/// On a device, samples are gathered straight into page-locked memory, and copied to the device without
/// waiting.
class FrameToTorchSetFanout : public NodeWith<FrameToTorchSetFanoutConfig>,
                              public DeviceWorkStarter,
                              public instrument::ReportsInput {
public:
    std::vector<std::string> output_ports() const override { return config().output_groups; }
    std::vector<TensorSetPtr> example() const override;
    instrument::InputReport input_report() const override { return m_tally->report(); }

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    const NamedTensor& chosen(const TensorSet& frame) const;
    /// @param waveforms  (view, channel, tick) on the host
    /// @param good       (view, channel) bool on the host
    NamedTensor uploaded(const ViewGroup& group, const at::Tensor& waveforms, const at::Tensor& good,
                         const Axis& ticks) const;
    /// For each row of the group, the row of the frame with its channel or -1.
    at::Tensor rows_of(const ViewGroup& group, const std::map<int, std::int64_t>& row_of_channel) const;
    void require_no_others(const std::map<int, std::int64_t>& row_of_channel) const;
    void require_every_anode(const std::map<int, std::int64_t>& row_of_channel) const;

    const ViewGroups* m_view_groups = nullptr;
    std::vector<const ViewGroup*> m_groups;
    std::unique_ptr<InputTally> m_tally; ///< after prepare()
};

} // namespace spng
