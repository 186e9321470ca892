// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_to_torch_set_fanout.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/device/memory/page_locked.h"
#include "spng/graph/memory_rule.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/fill.h>
#include <ATen/ops/zero.h>

#include <algorithm>

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
     .memory = memory_rule<FrameToTorchSetFanout>({.call = plan_memory, .splits_frames = true})}};

void append(ChannelMasks& masks, const std::string& name, const std::vector<ChannelRange>& ranges) {
    if (!ranges.empty()) {
        auto& list = masks[name];
        list.insert(list.end(), ranges.begin(), ranges.end());
    }
}

std::string idents_of(const std::vector<const AnodePlane*>& anodes) {
    std::vector<std::string> idents;
    for (const auto* anode : anodes) {
        idents.push_back(std::to_string(anode->config().ident));
    }
    return joined(idents);
}

} // namespace

void FrameToTorchSetFanout::prepare_node(Environment& environment) {
    m_view_groups = &environment.service<ViewGroups>(config().groups, at_key("groups"));
    for (const auto& wanted : config().output_groups) {
        m_groups.push_back(&m_view_groups->group(wanted, at_key("output_groups")));
    }
    const InputCheck* check =
        config().check.empty() ? nullptr : &environment.service<InputCheck>(config().check, at_key("check"));
    m_tally = std::make_unique<InputTally>(name().text(), config().max_bad_share, check);
}

const NamedTensor& FrameToTorchSetFanout::select_input(const TensorSet& frame) const {
    const bool is_only = config().intag.empty() && frame.tensors().size() == 1;
    const NamedTensor* tensor = is_only ? &frame.tensors().front() : frame.find(config().intag);
    if (tensor == nullptr) {
        std::vector<std::string> tags;
        for (const auto& each : frame.tensors()) {
            tags.push_back("'" + each.name + "'");
        }
        throw Error(ErrorKind::Input,
                    {.what = config().intag.empty() ? "the frame has several tags"
                                                    : "the frame has no waveforms of that tag",
                     .seen = joined(tags),
                     .expected = config().intag.empty() ? "one tag, or the one to use in key intag"
                                                        : "'" + config().intag + "'",
                     .hint = "-A intag=TAG"});
    }
    return *tensor;
}

void FrameToTorchSetFanout::reject_other_channels(const std::map<int, std::int64_t>& row_of_channel) const {
    const auto& own = m_view_groups->channels();
    std::size_t foreign = 0;
    int example = 0;
    for (const auto& [channel, row] : row_of_channel) {
        if (!std::binary_search(own.begin(), own.end(), channel)) {
            example = foreign++ == 0 ? channel : example;
        }
    }
    if (foreign != 0) {
        const bool is_one = m_view_groups->anodes().size() == 1;
        throw Error(
            ErrorKind::Input,
            {.what = is_one ? "channels that do not belong to the anode"
                            : "channels that belong to none of the anodes",
             .seen = std::to_string(foreign) + " of " + std::to_string(row_of_channel.size()) +
                     " channels, the first is " + std::to_string(example),
             .expected = "channels " + std::to_string(own.front()) + " to " + std::to_string(own.back()) +
                         (is_one ? " of anode " : " of anodes ") + idents_of(m_view_groups->anodes()),
             .hint =
                 "select the anode with -A tpcid=N, or several separated by commas; -A other_anodes=ignore "
                 "skips the channels of all others"});
    }
}

void FrameToTorchSetFanout::require_every_anode(const std::map<int, std::int64_t>& row_of_channel) const {
    std::vector<const AnodePlane*> present, absent;
    for (const auto* anode : m_view_groups->anodes()) {
        const auto& channels = anode->channels();
        const bool found = std::any_of(channels.begin(), channels.end(),
                                       [&](int channel) { return row_of_channel.contains(channel); });
        (found ? present : absent).push_back(anode);
    }
    if (!absent.empty()) {
        const auto& first = absent.front()->channels();
        throw Error(ErrorKind::Input,
                    {.what = "the frame has no channel of anode " + idents_of(absent),
                     .seen = std::to_string(row_of_channel.size()) + " channels, " +
                             (present.empty() ? "of other anodes" : "of anodes " + idents_of(present)),
                     .expected = "channels of every anode of the job; those of anode " +
                                 std::to_string(absent.front()->config().ident) + " are " +
                                 std::to_string(first.front()) + " to " + std::to_string(first.back()),
                     .hint = "select the anodes of the file with -A tpcid=N or a comma-separated list"});
    }
}

at::Tensor FrameToTorchSetFanout::rows_of(const ViewGroup& group,
                                          const std::map<int, std::int64_t>& row_of_channel) const {
    at::Tensor rows = at::empty(group.ids.sizes(), at::kLong);
    auto* row = rows.mutable_data_ptr<std::int64_t>();
    const auto* channel = group.ids.const_data_ptr<std::int32_t>();
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
        const auto found = row_of_channel.find(channel[i]);
        row[i] = found == row_of_channel.end() ? -1 : found->second;
    }
    return rows;
}

NamedTensor FrameToTorchSetFanout::uploaded(const ViewGroup& group, const at::Tensor& waveforms,
                                            const at::Tensor& good, const Axis& ticks) const {
    NVTX_SCOPED_RANGE("FrameToTorchSetFanout::upload");
    auto channels = std::make_shared<ChannelTable>();
    channels->views = group.view_names;
    for (const auto& view : group.views) {
        channels->planes.push_back(view.plane);
    }
    channels->ids = group.ids;
    channels->good = good.to(context().device(), /*non_blocking=*/true);
    NamedTensor tensor;
    tensor.name = group.name;
    tensor.data = waveforms.to(context().device(), /*non_blocking=*/true);
    tensor.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, ticks};
    tensor.unit = "ADC";
    tensor.channels = std::move(channels);
    for (const auto* anode : group.anodes) {
        merge_notes(tensor.notes, anode->notes());
    }
    return tensor;
}

std::vector<TensorSetPtr> FrameToTorchSetFanout::example() const {
    if (config().default_nticks == 0) {
        return {};
    }
    auto event = std::make_shared<EventInfo>();
    event->start =
        1; // captured graphs treat a start of 0 as a different input (section_ports.h); few readouts have it
    event->tick = config().readout_period;
    event->ticks = config().default_nticks;
    const bool is_copied = !context().device().is_cpu();
    std::vector<TensorSetPtr> outputs;
    for (const auto* group : m_groups) {
        auto shape = group->ids.sizes().vec();
        const at::Tensor good = host_tensor(shape, at::kBool, is_copied).fill_(true);
        shape.push_back(event->ticks);
        const at::Tensor waveforms = host_tensor(shape, at::kShort, is_copied).zero_();
        outputs.push_back(std::make_shared<const TensorSet>(
            event,
            std::vector{uploaded(*group, waveforms, good, {"tick", "ns", event->start, event->tick})}));
    }
    return outputs;
}

Ports FrameToTorchSetFanout::process(const Ports& inputs) {
    const NamedTensor& frame = select_input(*inputs[0]);
    const auto* channel = frame.channels->ids.const_data_ptr<std::int32_t>();
    std::map<int, std::int64_t> row_of_channel;
    for (std::int64_t row = 0; row < frame.channels->ids.numel(); ++row) {
        row_of_channel.emplace(channel[row], row);
    }
    if (config().other_channels == "reject") {
        reject_other_channels(row_of_channel);
    }
    require_every_anode(row_of_channel);

    auto event = std::make_shared<EventInfo>(inputs[0]->event());
    event->ticks = frame.data.size(1);
    std::vector<ChannelRange> bad;
    for (const auto& mask : config().bad_masks) {
        const auto found = event->masks.find(mask);
        if (found != event->masks.end()) {
            bad.insert(bad.end(), found->second.begin(), found->second.end());
        }
    }
    std::optional<Rails> rails;
    if (config().adc_bits > 0 && frame.data.scalar_type() == at::kShort) {
        rails = Rails{0, (std::int64_t{1} << config().adc_bits) - 1};
    }

    const bool to_device = !context().device().is_cpu();
    std::vector<NamedTensor> tensors;
    std::vector<InputTally::Selected> found;
    for (const auto* group : m_groups) {
        SelectedChannels selected;
        {
            NVTX_SCOPED_RANGE("FrameToTorchSetFanout::unpack");
            selected = select_channels(frame.data, rows_of(*group, row_of_channel), group->ids, bad, rails,
                                       largest_sample(config().adc_bits), to_device);
        }
        append(event->masks, "missing", selected.missing);
        append(event->masks, "nan", selected.not_finite);
        append(event->masks, "outofrange", selected.out_of_range);
        append(event->masks, "saturated", selected.saturated);
        tensors.push_back(uploaded(*group, selected.waveforms, selected.good, frame.axes[1]));
        found.push_back(
            {group, std::move(selected.waveforms), std::move(selected.good), std::move(selected.counts)});
    }
    m_tally->add(event->index, found);
    Ports outputs;
    for (auto& tensor : tensors) {
        outputs.push_back(std::make_shared<const TensorSet>(event, std::vector{std::move(tensor)}));
    }
    return outputs;
}

} // namespace spng
