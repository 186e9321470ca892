// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGFrameToTorchSetFanout: split a frame into one tensor per view group, cleaned and on the device.

#include "spng/detector/resample.h"
#include "spng/graph/device_work.h"
#include "spng/graph/node.h"
#include "spng/nodes/channels/channel_selection.h"
#include "spng/nodes/channels/kept_values.h"
#include "spng/nodes/input_check/input_tally.h"

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
    bool equal_is_dead = true;
    std::string other_channels = "reject";
    std::int64_t default_nticks = 0;
    double readout_period = 500;
    double chain_period = 0;
    std::string period_hint;
    std::string check;
    std::string channel_list;
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
            field(&C::equal_is_dead, "equal_is_dead", "", any(),
                  "report channels whose samples are all equal as dead; false: for charge, of which a "
                  "channel may "
                  "have none"),
            field(&C::other_channels, "other_channels", "", one_of("reject", "ignore"),
                  "treatment of channels that belong to none of the groups' anodes"),
            field(&C::default_nticks, "default_nticks", "ticks", at_least(0),
                  "expected readout length; a device is warmed up with readouts of this length before the "
                  "first event; 0: no warm-up"),
            field(&C::readout_period, "readout_period", "ns", above(0), "sampling period of the frames"),
            field(&C::chain_period, "chain_period", "ns", at_least(0),
                  "sampling period behind the SPNGResampler nodes, to which times, length and masks of the "
                  "event "
                  "are converted; 0: that of the frames"),
            field(&C::period_hint, "period_hint", "", any(),
                  "hint of the error about frames with another sampling period"),
            field(&C::check, "check", "", any(),
                  "name of the SPNGInputCheck component; empty: do not check noise, polarity and pulse shape "
                  "of the input"),
            field(&C::channel_list, "channel_list", "", any(),
                  "name of the SPNGChannelList component whose bad channels are added to the channel mask "
                  "\"bad\" of each event; empty: none"),
            field(
                &C::max_bad_share, "max_bad_share", "", between(0, 1),
                "warn if a larger share of an anode's channels is unusable (absent, NaN, out of range, dead "
                "or masked), or saturated"));
    }
};

/// In: a frame (channel, tick) on the host. Out: port g gives the tensor of group g, with the name of the
/// group: (view, channel, tick) [ADC]. int16 input stays int16 and is converted to real numbers on the
/// device. The masks "nan", "missing", "outofrange" and "saturated" are added to the event. The counts of
/// such channels go to the run report, and the warnings about an event into its note "warnings". The groups may belong to several anodes; the frame then holds the
/// channels of all of them. An anode without any channel in the frame is an error of the event, as is another
/// sampling period than the configured one.
///
/// With chain_period the tensors keep the sampling of the frame until SPNGResampler, while the event has that of
/// the chain from here on: a captured graph changes tensors only. Nodes in between take period and length from
/// the tensor.
///
/// A device gets the frame as it was read: one asynchronous copy from page-locked memory, and one launch that makes
/// the tensors of all groups (select_rows). Those four masks and the counts are then a report, so an
/// event that fails on its way is not counted. An engine may capture that launch
/// (DeviceWorkStarter).
class FrameToTorchSetFanout : public NodeWith<FrameToTorchSetFanoutConfig>,
                              public DeviceWorkStarter,
                              public instrument::ReportsInput {
public:
    std::vector<std::string> output_ports() const override { return config().output_groups; }
    std::vector<TensorSetPtr> example() const override;
    bool leave_device_work() override;
    std::vector<TensorSetPtr> device_work(const TensorSetPtr& uploaded) const override;
    instrument::InputReport input_report() const override { return m_tally->report(); }
    /// The groups of the frames' channels. Call after prepare().
    const ViewGroups& view_groups() const { return *m_view_groups; }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    void begin_run(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// Rows of one frame for the channels of all groups, one group after the other, (row) int64 on the host.
    using Rows = std::shared_ptr<const at::Tensor>;
    /// Properties of events that can share the row table of a device.
    struct TableKey {
        Rows rows;
        std::vector<ChannelRange> bad;
        std::int64_t ticks = 0; ///< of the readout; 0 without bad ticks, which depend on it
        bool operator==(const TableKey&) const = default;
    };
    struct DeviceTable {
        at::Tensor rows;      ///< the tensors of a RowTable one after the other, int64 on the device
        at::Tensor is_masked; ///< as BadTicks::is_masked
    };

    /// Return the row of each channel, or -1.
    /// @param channels  of the rows of the frame, int32
    /// @throws Error(Input) for channels that do not belong to the groups' anodes, and for an anode without any
    Rows rows_for(const at::Tensor& channels) const;
    std::shared_ptr<const DeviceTable> table_for(const TableKey& key) const;
    /// Return the set to upload: the frame as it was read, and its row table.
    /// @param reports  without values, which device_work() makes
    TensorSetPtr to_upload(std::shared_ptr<const EventInfo> event, const at::Tensor& samples,
                           const at::Tensor& table, const Axis& ticks, Reports reports) const;
    /// Add the channels of the list to the mask "bad".
    void add_listed_channels(EventInfo& event) const;
    /// Return the ranges of the masks that make channels bad.
    std::vector<ChannelRange> bad_ranges(const EventInfo& event) const;
    /// Return the outputs of an event whose channels are selected on the device, or here. Both resample the event.
    Ports select_on_device(const NamedTensor& frame, const Rows& rows,
                           const std::shared_ptr<EventInfo>& event) const;
    Ports select_on_host(const NamedTensor& frame, const Rows& rows,
                         const std::shared_ptr<EventInfo>& event) const;
    /// Return the outputs for a set to upload, or leave the work to the caller.
    std::vector<TensorSetPtr> outputs_for(const TensorSetPtr& set) const;
    /// @param waveforms  (view, channel, tick) on the device of the job
    /// @param good       (view, channel) bool on the device of the job
    NamedTensor tensor_of(const ViewGroup& group, at::Tensor waveforms, at::Tensor good,
                          const Axis& ticks) const;
    /// Return the part of a group, (view, channel, ...), of a tensor with the rows of all groups.
    at::Tensor part_of(std::size_t group, const at::Tensor& rows) const;

    const ViewGroups* m_view_groups = nullptr;
    std::vector<const ViewGroup*> m_groups;
    std::vector<std::int64_t> m_first_rows; ///< of each group, in tensors with the rows of all groups
    std::vector<int> m_bad_channels;        ///< of the channel list, in the anodes of the job
    at::Tensor m_ids;    ///< (row) int32 on the host: channel ids of the rows of all groups
    PeriodRatio m_ratio; ///< of the frames' sampling period and that of the chain
    bool m_leaves_device_work = false;
    mutable KeptValues<std::vector<int>, at::Tensor> m_rows; ///< by channels of the frame
    mutable KeptValues<TableKey, DeviceTable> m_tables;
    std::shared_ptr<InputTally> m_tally; ///< after prepare()
};

} // namespace spng
