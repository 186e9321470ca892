// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_to_torch_set_fanout.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/detector/channel_list.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/device/event_stream.h"
#include "spng/device/host_copy.h"
#include "spng/device/memory/page_locked.h"
#include "spng/graph/memory_rule.h"
#include "spng/graph/reported.h"
#include "spng/nodes/channels/event_times.h"
#include "spng/nodes/channels/late_findings.h"
#include "spng/nodes/frame/frame_requirements.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zero.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace spng {
namespace {

constexpr std::int64_t table_bytes = 22'000'000; // filters, crossings, weights; measured for ProtoDUNE-HD

/// Each group holds ADC samples of two bytes.
std::vector<PlannedSet> plan_memory(const FrameToTorchSetFanoutConfig&, PlannedCall& call) {
    call.keep(table_bytes);
    std::vector<PlannedSet> outputs;
    for (const auto& group : call.groups) {
        outputs.push_back({call.make(group, MemoryUse::input, 2)});
    }
    outputs.resize(call.outputs);
    return outputs;
}

const Registration<FrameToTorchSetFanout> registration{
    {.type = "SPNGFrameToTorchSetFanout",
     .kind = "frame",
     .inputs = {"frame"},
     .outputs = {"*"},
     .text = "splits a frame into view groups, cleans and uploads them",
     .memory = memory_rule<FrameToTorchSetFanout>({.call = plan_memory, .splits_frames = true}),
     .wct_name = "FrameToTorchSetFanout"}};

} // namespace

void FrameToTorchSetFanout::configured() {
    if (config().chain_period > 0) {
        constexpr std::int64_t max_term = 8192; // transforms have a multiple of it
        m_ratio = period_ratio(config().readout_period, config().chain_period);
        if (std::max(m_ratio.from, m_ratio.to) > max_term) {
            reject("chain_period", std::to_string(config().chain_period) + " ns",
                   "a period whose ratio to the " + std::to_string(config().readout_period) +
                       " ns of readout_period is one of integers up to " + std::to_string(max_term));
        }
    }
}

void FrameToTorchSetFanout::prepare_node(Environment& environment) {
    m_view_groups = &environment.service<ViewGroups>(config().groups, at_key("groups"));
    for (const auto& wanted : config().output_groups) {
        m_groups.push_back(&m_view_groups->group(wanted, at_key("output_groups")));
    }
    if (!config().channel_list.empty()) {
        const auto& list = environment.service<ChannelList>(config().channel_list, at_key("channel_list"));
        const auto& own = m_view_groups->channels();
        std::set_intersection(list.bad().begin(), list.bad().end(), own.begin(), own.end(),
                              std::back_inserter(m_bad_channels));
    }
    std::vector<at::Tensor> ids;
    std::int64_t rows = 0;
    for (const auto* group : m_groups) {
        m_first_rows.push_back(rows);
        rows += group->ids.numel();
        ids.push_back(group->ids.reshape({-1}));
    }
    m_ids = at::cat(ids);
}

void FrameToTorchSetFanout::begin_run(Environment& environment) {
    const InputCheck* check =
        config().check.empty() ? nullptr : &environment.service<InputCheck>(config().check, at_key("check"));
    m_tally = std::make_shared<InputTally>(name().text(), config().max_bad_share, config().adc_bits, check,
                                           config().equal_is_dead);
}

FrameToTorchSetFanout::Rows FrameToTorchSetFanout::rows_for(const at::Tensor& channels) const {
    const auto* channel = channels.const_data_ptr<std::int32_t>();
    return m_rows.get({channel, channel + channels.numel()}, [&](bool) {
        std::map<int, std::int64_t> row_of_channel;
        for (std::int64_t row = 0; row < channels.numel(); ++row) {
            row_of_channel.emplace(channel[row], row);
        }
        if (config().other_channels == "reject") {
            reject_other_channels(*m_view_groups, row_of_channel);
        }
        require_every_anode(*m_view_groups, row_of_channel);
        at::Tensor rows = at::empty(m_ids.sizes(), at::kLong);
        auto* row = rows.mutable_data_ptr<std::int64_t>();
        const auto* id = m_ids.const_data_ptr<std::int32_t>();
        for (std::int64_t i = 0; i < rows.numel(); ++i) {
            const auto found = row_of_channel.find(id[i]);
            row[i] = found == row_of_channel.end() ? -1 : found->second;
        }
        return rows;
    });
}

std::shared_ptr<const FrameToTorchSetFanout::DeviceTable>
FrameToTorchSetFanout::table_for(const TableKey& key) const {
    return m_tables.get(key, [&](bool is_kept) {
        const BadTicks bad_ticks = bad_ticks_of(m_ids, key.bad, key.ticks);
        const c10::Device device = context().device();
        const std::int64_t rows = m_ids.numel(), ranges = bad_ticks.ranges.size(0);
        // Room for a power of two, so that events with a few more or fewer bad ticks share a CUDA graph.
        const auto room =
            ranges == 0 ? 0 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ranges)));
        // One upload for the three tables.
        at::Tensor on_host = host_tensor({2 * rows + 1 + 2 * room}, at::kLong, device.is_cuda()).zero_();
        on_host.narrow(0, 0, rows).copy_(*key.rows);
        on_host.narrow(0, rows, rows + 1).copy_(bad_ticks.offsets);
        on_host.narrow(0, 2 * rows + 1, 2 * ranges).copy_(bad_ticks.ranges.view(-1));
        const at::Tensor all = on_host.to(device, /*non_blocking=*/true);
        if (is_kept) {
            wait_for_current_stream(device); // once per table: other streams will read it
        }
        return DeviceTable{all, bad_ticks.is_masked};
    });
}

at::Tensor FrameToTorchSetFanout::part_of(std::size_t group, const at::Tensor& rows) const {
    return rows_of_group(rows, *m_groups[group], m_first_rows[group]);
}

NamedTensor FrameToTorchSetFanout::tensor_of(const ViewGroup& group, at::Tensor waveforms, at::Tensor good,
                                             const Axis& ticks) const {
    auto channels = std::make_shared<ChannelTable>();
    channels->views = group.view_names;
    for (const auto& view : group.views) {
        channels->planes.push_back(view.plane);
    }
    channels->ids = group.ids;
    channels->good = std::move(good);
    NamedTensor tensor;
    tensor.name = group.name;
    tensor.data = std::move(waveforms);
    tensor.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, ticks};
    tensor.unit = "ADC";
    tensor.channels = std::move(channels);
    for (const auto* anode : group.anodes) {
        merge_notes(tensor.notes, anode->notes());
    }
    return tensor;
}

TensorSetPtr FrameToTorchSetFanout::to_upload(std::shared_ptr<const EventInfo> event,
                                              const at::Tensor& samples, const at::Tensor& table,
                                              const Axis& ticks, Reports reports) const {
    NamedTensor frame, rows;
    frame.name = "frame";
    frame.data = samples;
    frame.axes = {{"channel", "", 0, 1}, ticks};
    rows.name = "rows";
    rows.data = table;
    return std::make_shared<const TensorSet>(std::move(event), std::vector{frame, rows}, std::move(reports));
}

bool FrameToTorchSetFanout::leave_device_work() {
    m_leaves_device_work = !context().device().is_cpu();
    return m_leaves_device_work;
}

std::vector<TensorSetPtr> FrameToTorchSetFanout::device_work(const TensorSetPtr& uploaded) const {
    NVTX_SCOPED_RANGE("FrameToTorchSetFanout::unpack");
    const NamedTensor& frame = uploaded->at("frame");
    const at::Tensor& table = uploaded->at("rows").data;
    const std::int64_t rows = m_ids.numel(), ranges = (table.numel() - 2 * rows - 1) / 2;
    const RowTable parts{table.narrow(0, 0, rows), table.narrow(0, rows, rows + 1),
                         table.narrow(0, 2 * rows + 1, 2 * ranges).view({ranges, 2})};
    const SelectedRows selected = select_rows(frame.data, parts, rails_of(frame.data, config().adc_bits),
                                              largest_sample(config().adc_bits));
    Report report{.node = name().text()};
    if (!uploaded->reports().empty()) {
        report = *uploaded->reports().front();
    }
    report.values = selected.flags;
    Reports reports{std::make_shared<const Report>(copied(std::move(report)))};
    std::vector<TensorSetPtr> outputs;
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        NamedTensor tensor = tensor_of(*m_groups[group], part_of(group, selected.waveforms),
                                       part_of(group, selected.good), frame.axes[1]);
        outputs.push_back(std::make_shared<const TensorSet>(
            uploaded->event_ptr(), std::vector{std::move(tensor)}, std::exchange(reports, {})));
    }
    return outputs;
}

std::vector<TensorSetPtr> FrameToTorchSetFanout::outputs_for(const TensorSetPtr& set) const {
    if (m_leaves_device_work) {
        const auto nothing = std::make_shared<const TensorSet>(set->event_ptr(), std::vector<NamedTensor>{});
        std::vector<TensorSetPtr> outputs(m_groups.size(), nothing);
        outputs.front() = set;
        return outputs;
    }
    std::vector<NamedTensor> tensors = set->tensors();
    {
        NVTX_SCOPED_RANGE("FrameToTorchSetFanout::upload");
        at::Tensor& samples = tensors.front().data;
        const at::Tensor there =
            at::empty(samples.sizes(), at::TensorOptions(samples.scalar_type()).device(context().device()));
        begin_copy_to_device(samples, there);
        samples = there;
    }
    return device_work(
        std::make_shared<const TensorSet>(set->event_ptr(), std::move(tensors), set->reports()));
}

std::vector<TensorSetPtr> FrameToTorchSetFanout::example() const {
    if (config().default_nticks == 0) {
        return {};
    }
    auto event = std::make_shared<EventInfo>();
    event->tick = config().readout_period;
    event->ticks = config().default_nticks;
    const Axis ticks{"tick", "ns", event->start, event->tick};
    resample(*event, m_ratio, config().chain_period);
    const c10::Device device = context().device();
    if (!device.is_cpu()) {
        // Most frames have the channels of all anodes in ascending order.
        const at::Tensor channels = at::tensor(m_view_groups->channels(), at::kInt);
        const at::Tensor frame =
            host_tensor({channels.numel(), config().default_nticks}, at::kShort, device.is_cuda()).zero_();
        return outputs_for(to_upload(event, frame, table_for({rows_for(channels), {}, 0})->rows, ticks, {}));
    }
    std::vector<TensorSetPtr> outputs;
    for (const auto* group : m_groups) {
        auto shape = group->ids.sizes().vec();
        const at::Tensor good = at::ones(shape, at::kBool);
        shape.push_back(config().default_nticks);
        NamedTensor tensor = tensor_of(*group, at::zeros(shape, at::kShort), good, ticks);
        outputs.push_back(std::make_shared<const TensorSet>(event, std::vector{std::move(tensor)}));
    }
    return outputs;
}

void FrameToTorchSetFanout::add_listed_channels(EventInfo& event) const {
    for (const int channel : m_bad_channels) {
        const ChannelRange whole{channel, 0, event.ticks};
        auto& mask = event.masks["bad"];
        if (std::find(mask.begin(), mask.end(), whole) == mask.end()) {
            mask.push_back(whole);
        }
    }
}

std::vector<ChannelRange> FrameToTorchSetFanout::bad_ranges(const EventInfo& event) const {
    std::vector<ChannelRange> bad;
    for (const auto& mask : config().bad_masks) {
        const auto found = event.masks.find(mask);
        if (found != event.masks.end()) {
            bad.insert(bad.end(), found->second.begin(), found->second.end());
        }
    }
    return bad;
}

Ports FrameToTorchSetFanout::process(const Ports& inputs) {
    const NamedTensor& frame = waveforms_of(*inputs[0], config().intag);
    require_period(frame.axes[1].period, config().readout_period, config().period_hint);
    const Rows rows = rows_for(frame.channels->ids);
    auto event = std::make_shared<EventInfo>(inputs[0]->event());
    event->ticks = frame.data.size(1);
    add_listed_channels(*event);
    return context().device().is_cpu() ? select_on_host(frame, rows, event)
                                       : select_on_device(frame, rows, event);
}

Ports FrameToTorchSetFanout::select_on_device(const NamedTensor& frame, const Rows& rows,
                                              const std::shared_ptr<EventInfo>& event) const {
    std::vector<ChannelRange> bad = bad_ranges(*event);
    const auto table = table_for({rows, bad, bad.empty() ? 0 : frame.data.size(1)});
    std::vector<LateInput::Group> groups;
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        groups.push_back({m_groups[group], m_first_rows[group]});
    }
    auto input = std::make_shared<const LateInput>(LateInput{
        name().text(), event->index, frame.data, *rows, table->is_masked, std::move(groups), std::move(bad),
        rails_of(frame.data, config().adc_bits), largest_sample(config().adc_bits), m_ratio, m_tally});
    Report report{.node = name().text(), .read = [input = std::move(input)](const at::Tensor& flags) {
                      return late_findings(*input, flags);
                  }};
    resample(*event, m_ratio, config().chain_period);
    return outputs_for(to_upload(event, frame.data, table->rows, frame.axes[1],
                                 {std::make_shared<const Report>(std::move(report))}));
}

Ports FrameToTorchSetFanout::select_on_host(const NamedTensor& frame, const Rows& rows,
                                            const std::shared_ptr<EventInfo>& event) const {
    const std::vector<ChannelRange> bad = bad_ranges(*event);
    const std::optional<Rails> rails = rails_of(frame.data, config().adc_bits);
    const double largest = largest_sample(config().adc_bits);
    std::vector<NamedTensor> tensors;
    std::vector<InputTally::Selected> found;
    for (std::size_t group = 0; group < m_groups.size(); ++group) {
        NVTX_SCOPED_RANGE("FrameToTorchSetFanout::unpack");
        SelectedChannels selected =
            select_channels(frame.data, part_of(group, *rows), m_groups[group]->ids, bad, rails, largest);
        add_findings(event->masks, selected.findings);
        tensors.push_back(tensor_of(*m_groups[group], selected.waveforms, selected.good, frame.axes[1]));
        const auto waveforms = [samples = selected.waveforms, good = selected.good,
                                &ids = m_groups[group]->ids](EveryChannel channels) {
            return InputTally::Waveforms{samples, good, ids, channels};
        };
        found.push_back({m_groups[group], waveforms, std::move(selected.findings.counts)});
    }
    const Notes notes = m_tally->add(event->index, found);
    for (NamedTensor& tensor : tensors) {
        merge_notes(tensor.notes, notes);
    }
    resample(*event, m_ratio, config().chain_period);
    Ports outputs;
    for (auto& tensor : tensors) {
        outputs.push_back(std::make_shared<const TensorSet>(event, std::vector{std::move(tensor)}));
    }
    return outputs;
}

} // namespace spng
