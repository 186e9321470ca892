// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGFrameToTorchSetFanout: split a frame into one tensor per view group, cleaned and on the device.

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
                  "names of the view groups, one per output port"),
            field(&C::intag, "intag", "", any(), "tag of the waveforms; empty: the only tag of the frame"),
            field(&C::bad_masks, "bad_masks", "", any(),
                  "channel masks of the frame that mark dead channels and bad ticks"),
            field(&C::adc_bits, "adc_bits", "bits", between(0, 31),
                  "resolution of the digitiser; integer samples at 0 or 2^bits - 1 are listed as saturated; "
                  "0: do not check for saturation"),
            field(&C::other_channels, "other_channels", "", one_of("reject", "ignore"),
                  "treatment of channels that belong to none of the groups' anodes"),
            field(&C::default_nticks, "default_nticks", "ticks", at_least(0),
                  "expected readout length; a device is warmed up with readouts of this length before the "
                  "first event; 0: no warm-up"),
            field(&C::readout_period, "readout_period", "ns", above(0), "expected sampling period"),
            field(&C::check, "check", "", any(),
                  "name of the SPNGInputCheck component; empty: do not check noise, polarity and pulse shape "
                  "of the input"),
            field(
                &C::max_bad_share, "max_bad_share", "", between(0, 1),
                "warn if a larger share of an anode's channels is unusable (absent, NaN, out of range, dead "
                "or masked), or saturated"));
    }
};

/// In: a frame (channel, tick) on the host. Out: port g gives the tensor of group g, with the name of the
/// group: (view, channel, tick) [ADC]. int16 input stays int16 and is converted to real numbers on the
/// device. The masks "nan", "missing", "outofrange" and "saturated" are added to the event. The counts of
/// such channels go to the run report. The groups may belong to several anodes; the frame then holds the
/// channels of all of them. An anode without any channel in the frame is an error of the event.
///
/// For a device, samples are gathered directly into page-locked memory and uploaded asynchronously.
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
    /// Return the tensor with the tag `intag`, or the only one.
    const NamedTensor& select_input(const TensorSet& frame) const;
    /// @param waveforms  (view, channel, tick) on the host
    /// @param good       (view, channel) bool on the host
    NamedTensor uploaded(const ViewGroup& group, const at::Tensor& waveforms, const at::Tensor& good,
                         const Axis& ticks) const;
    /// Return for each channel of the group its row in the frame, or -1.
    at::Tensor rows_of(const ViewGroup& group, const std::map<int, std::int64_t>& row_of_channel) const;
    void reject_other_channels(const std::map<int, std::int64_t>& row_of_channel) const;
    void require_every_anode(const std::map<int, std::int64_t>& row_of_channel) const;

    const ViewGroups* m_view_groups = nullptr;
    std::vector<const ViewGroup*> m_groups;
    std::unique_ptr<InputTally> m_tally; ///< after prepare()
};

} // namespace spng
