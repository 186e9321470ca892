// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/torch_tensor_set_to_frame_fanin.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/notes.h"
#include "spng/core/rows/encodings.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/device/host_copy.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/channels/channel_ranges.h"
#include "spng/nodes/roi/compact_regions.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

/// One frame per kind of input, float32 at the rate of the readout: CompactFrame has room for every sample too.
std::vector<PlannedSet> plan_memory(const TorchTensorSetToFrameFaninConfig&, PlannedCall& call) {
    PlannedSet frame;
    for (const auto& set : call.inputs) {
        for (PlannedTensor tensor : set) {
            tensor.ticks = call.ticks;
            frame.push_back(call.make(tensor, MemoryUse::images, 4));
        }
    }
    return std::vector<PlannedSet>(call.outputs, frame);
}

const Registration<TorchTensorSetToFrameFanin> registration{
    {.type = "SPNGTorchTensorSetToFrameFanin",
     .kind = "frame",
     .inputs = {"*"},
     .outputs = {"*"},
     .is_captured = false,
     .text = "gathers the tensors of all view groups into a frame, or into one frame per anode",
     .memory = memory_rule<TorchTensorSetToFrameFanin>({.call = plan_memory}),
     .wct_name = "TorchTensorSetToFrameFanin"}};

bool contains(const std::vector<int>& channels, int channel) {
    return std::binary_search(channels.begin(), channels.end(), channel);
}

std::int64_t ticks_of_sample(const NamedTensor& tensor, const EventInfo& event) {
    return std::llround(tensor.axes.back().period / event.tick);
}

/// Add the notes that follow from the complete masks of an event. Those of readout windows overlap:
/// SPNGStitchWindows writes their notes.
void add_notes(std::vector<NamedTensor>& tensors, const EventInfo& event) {
    if (!event.window) {
        for (NamedTensor& tensor : tensors) {
            note_findings(tensor.notes, event.masks, event.ticks);
        }
    }
}

/// Return the parts of a tag for CompactFrame; nothing if they are dense, or of several kinds.
std::optional<CompactTag> compact_tag(const std::vector<NamedTensor>& parts, const EventInfo& event) {
    if (parts.empty() || !compacts_rows(parts.front().data.device())) {
        return std::nullopt;
    }
    const NamedTensor& first = parts.front();
    const std::int64_t period = ticks_of_sample(first, event);
    const bool fits = std::all_of(parts.begin(), parts.end(), [&](const NamedTensor& part) {
        return ticks_of_sample(part, event) == period && part.encoding.index() == first.encoding.index() &&
               mask_samples(part) == mask_samples(first) &&
               (!part.compacted() || part.compacted()->factor == first.compacted()->factor) &&
               part.data.size(2) == first.data.size(2) && part.data.scalar_type() == first.data.scalar_type();
    });
    const bool has_samples = first.compacted() && period == 1;
    if (!fits || !(has_samples || first.packed())) {
        return std::nullopt;
    }
    CompactTag tag;
    tag.factor = has_samples ? first.compacted()->factor : period;
    for (const NamedTensor& part : parts) {
        tag.masks.push_back(has_samples ? part.compacted()->mask : part.data);
        if (has_samples) {
            tag.rows.push_back(part.data);
            tag.ticks = part.data.size(2);
        }
        tag.ids.push_back(part.channels->ids);
    }
    return tag;
}

/// Return the frame with the samples of these tags from their copy.
/// @param indices  of the tags in the frame
TensorSetPtr with_samples(const TensorSet& frame, CompactFrame& copied,
                          const std::vector<std::size_t>& indices) {
    std::vector<NamedTensor> tensors = frame.tensors();
    auto results = copied.results();
    for (std::size_t i = 0; i < results.size(); ++i) {
        NamedTensor& tensor = tensors[indices[i]];
        tensor.data.reset();
        auto* samples = std::get_if<SparseSamples>(&results[i]);
        if (samples != nullptr && !frame.event().window) {
            tensor.encoding = std::move(*samples);
        } else {
            tensor.data = samples ? dense(*samples) : std::get<at::Tensor>(std::move(results[i]));
        }
    }
    return std::make_shared<const TensorSet>(frame.event_ptr(), std::move(tensors));
}

} // namespace

void TorchTensorSetToFrameFanin::configured() {
    const auto& tags = config().tags;
    for (auto tag = tags.begin(); tag != tags.end(); ++tag) {
        if (std::find(tags.begin(), tag, *tag) != tag) {
            reject("tags", "'" + *tag + "' twice", "unique tags");
        }
    }
}

std::vector<std::string> TorchTensorSetToFrameFanin::input_ports() const {
    std::vector<std::string> ports;
    for (int port = 0; port < config().multiplicity; ++port) {
        ports.push_back("set" + std::to_string(port));
    }
    return ports;
}

std::vector<std::string> TorchTensorSetToFrameFanin::output_ports() const {
    return is_split() ? config().anodes : std::vector<std::string>{"frame"};
}

void TorchTensorSetToFrameFanin::prepare_node(Environment& environment) {
    const auto& groups = environment.service<ViewGroups>(config().groups, at_key("groups"));
    const auto add_frame = [&](const std::vector<int>& channels) {
        auto table = std::make_shared<ChannelTable>();
        table->ids = at::tensor(channels, at::kInt).unsqueeze(0);
        table->good = at::ones(table->ids.sizes(), at::kBool);
        m_frames.push_back({channels, std::move(table), std::make_shared<const RowPositions>(channels),
                            std::make_shared<CopiedShare>()});
    };
    for (const auto& wanted : config().anodes) {
        const auto& anode = environment.service<AnodePlane>(wanted, at_key("anodes"));
        if (std::find(groups.anodes().begin(), groups.anodes().end(), &anode) == groups.anodes().end()) {
            reject("anodes", wanted, "anodes whose views are in " + groups.name().text());
        }
        add_frame(anode.channels());
    }
    if (!is_split()) {
        add_frame(groups.channels());
    }
}

bool TorchTensorSetToFrameFanin::has_view(const Rows& rows, const at::Tensor& ids) {
    // All channels of a view belong to one anode, so testing the first one is enough.
    const at::Tensor first = ids.select(1, 0).contiguous();
    const auto* channels = first.const_data_ptr<std::int32_t>();
    return std::any_of(channels, channels + first.numel(),
                       [&](int channel) { return contains(rows.channels, channel); });
}

void TorchTensorSetToFrameFanin::add_parts(const Rows& rows, const NamedTensor& tensor,
                                           std::vector<NamedTensor>& parts) const {
    if (!is_split()) {
        parts.push_back(tensor);
        return;
    }
    for (std::int64_t view = 0; view < tensor.data.size(0); ++view) {
        const at::Tensor ids = tensor.channels->ids.narrow(0, view, 1);
        if (has_view(rows, ids)) {
            NamedTensor part = tensor;
            part.data = tensor.data.narrow(0, view, 1);
            if (const auto* compacted = tensor.compacted()) {
                part.encoding = CompactedRows{compacted->mask.narrow(0, view, 1), compacted->factor};
            }
            part.summary = tensor.summary.defined() ? tensor.summary.narrow(0, view, 1) : at::Tensor{};
            auto channels = std::make_shared<ChannelTable>();
            channels->ids = ids;
            part.channels = std::move(channels);
            parts.push_back(std::move(part));
        }
    }
}

std::shared_ptr<const EventInfo>
TorchTensorSetToFrameFanin::event_for(const Rows& rows, const std::shared_ptr<const EventInfo>& event) const {
    if (!is_split()) {
        return event;
    }
    auto own = std::make_shared<EventInfo>(*event);
    own->masks.clear();
    for (const auto& [mask, ranges] : event->masks) {
        for (const auto& range : ranges) {
            if (contains(rows.channels, range.channel)) {
                own->masks[mask].push_back(range);
            }
        }
    }
    return own;
}

at::Tensor TorchTensorSetToFrameFanin::frame_of(const std::vector<RowBlock>& blocks, const Rows& rows,
                                                std::int64_t ticks) const {
    if (blocks.empty() || blocks.front().data.is_cpu()) {
        return scatter_rows(blocks, rows.channels, ticks);
    }
    const bool masks = std::all_of(blocks.begin(), blocks.end(), [](const RowBlock& block) {
        return block.data.scalar_type() == at::kBool;
    });
    const at::Tensor frame =
        scatter_rows_on_device(blocks, *rows.positions, ticks, masks ? at::kShort : at::kFloat);
    return config().results_on_device ? frame : begin_copy_to_host(frame);
}

at::Tensor TorchTensorSetToFrameFanin::summary_of(const std::vector<RowBlock>& blocks, const Rows& rows) {
    if (blocks.empty()) {
        return {};
    }
    if (!blocks.front().data.is_cpu()) {
        return begin_copy_to_host(scatter_rows_on_device(blocks, *rows.positions, 1, at::kDouble)).squeeze(1);
    }
    at::Tensor summary = at::zeros(static_cast<std::int64_t>(rows.channels.size()), at::kDouble);
    for (const auto& block : blocks) {
        scatter_values(block.data.squeeze(-1).to(at::kDouble), block.ids, rows.channels, summary);
    }
    return summary;
}

TorchTensorSetToFrameFanin::Gathered
TorchTensorSetToFrameFanin::gather(const std::string& tag, const Ports& inputs, const Rows& rows) const {
    const EventInfo& event = inputs[0]->event();
    std::vector<NamedTensor> parts;
    parts.reserve(inputs.size());
    NamedTensor out;
    out.name = tag;
    bool is_found = false;
    for (const auto& set : inputs) {
        if (const NamedTensor* tensor = set->find(tag)) {
            is_found = true;
            out.unit = tensor->unit;
            add_parts(rows, *tensor, parts);
        }
    }
    if (!is_found) {
        throw Error(ErrorKind::Internal, {.what = "no input has a tensor for the tag '" + tag + "'",
                                          .seen = "sets without it",
                                          .expected = "a tensor named '" + tag + "' in one of them",
                                          .hint = "connect the node that makes it, or remove the tag"});
    }
    std::optional<CompactTag> compact = config().results_on_device ? std::nullopt : compact_tag(parts, event);
    std::vector<RowBlock> blocks, summaries;
    for (const auto& part : parts) {
        merge_notes(out.notes, part.notes);
        if (!compact) {
            blocks.push_back({dense_tensor(part), part.channels->ids, ticks_of_sample(part, event)});
        }
        if (part.summary.defined()) {
            summaries.push_back({part.summary.unsqueeze(-1), part.channels->ids, 1});
        }
    }
    if (!compact) {
        out.data = frame_of(blocks, rows, event.ticks);
    }
    out.summary = summary_of(summaries, rows);
    out.axes = {{"channel", "", 0, 1},
                {"tick", "ns", event.start + event.first_tick * event.tick, event.tick}};
    out.channels = rows.table;
    return {std::move(out), std::move(compact)};
}

TensorSetPtr TorchTensorSetToFrameFanin::frame(const std::vector<std::string>& tags, const Ports& inputs,
                                               const Rows& rows) const {
    std::vector<NamedTensor> tensors;
    std::vector<CompactTag> compact;
    std::vector<std::size_t> indices; // of the compact tags
    for (const auto& tag : tags) {
        Gathered gathered = gather(tag, inputs, rows);
        if (gathered.compact) {
            indices.push_back(tensors.size());
            compact.push_back(std::move(*gathered.compact));
        }
        tensors.push_back(std::move(gathered.tensor));
    }
    auto event = event_for(rows, inputs[0]->event_ptr());
    auto faults = copied_faults(inputs);
    if (context().device().is_cpu()) {
        event = with_faults(event, faults, rows.channels);
        add_notes(tensors, *event);
        return std::make_shared<const TensorSet>(std::move(event), std::move(tensors));
    }
    Completion rest;
    rest.findings = [this, &rows, faults = std::move(faults)](const TensorSet& frame,
                                                              const std::vector<Found>& found) {
        return with_findings(frame, found, rows, faults);
    };
    rest.samples = [](const TensorSet& frame) {
        return std::make_shared<const TensorSet>(frame.event_ptr(), frame.tensors());
    };
    if (!compact.empty()) {
        const auto copied =
            std::make_shared<CompactFrame>(compact, *rows.positions, inputs[0]->event().ticks, *rows.share);
        // Until the copies are complete, the first tag has all of them, for the sizes in reports, and the others nothing.
        for (const std::size_t tensor : indices) {
            tensors[tensor].data =
                tensor == indices.front() ? copied->copied() : copied->copied().narrow(0, 0, 0);
        }
        rest.samples = [copied, indices](const TensorSet& frame) {
            return with_samples(frame, *copied, indices);
        };
    }
    return std::make_shared<const TensorSet>(std::move(event), std::move(tensors), Reports{},
                                             std::make_shared<const Completion>(std::move(rest)));
}

TensorSetPtr TorchTensorSetToFrameFanin::with_findings(const TensorSet& frame,
                                                       const std::vector<Found>& found, const Rows& rows,
                                                       const std::vector<FaultCopy>& faults) const {
    NVTX_SCOPED_RANGE("TorchTensorSetToFrameFanin::complete");
    std::vector<NamedTensor> tensors = frame.tensors();
    auto own = std::make_shared<EventInfo>(frame.event());
    for (const Found& each : found) {
        for (const auto& [mask, ranges] : each.masks) {
            auto& list = own->masks[mask];
            list.insert(list.end(), ranges.begin(), ranges.end());
        }
    }
    auto event = event_for(rows, own);
    add_notes(tensors, *event);
    for (const Found& each : found) {
        if (!each.channels.defined()) {
            for (NamedTensor& tensor : tensors) {
                merge_notes(tensor.notes, each.notes);
            }
        } else if (has_view(rows, each.channels)) {
            merge_notes(tensors.front().notes, each.notes);
        }
    }
    event = with_faults(event, faults, rows.channels);
    return std::make_shared<const TensorSet>(std::move(event), std::move(tensors));
}

Ports TorchTensorSetToFrameFanin::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("TorchTensorSetToFrameFanin::pack");
    std::vector<std::string> tags = config().tags;
    if (inputs[0]->event().window) {
        tags.insert(tags.end(), config().window_tags.begin(), config().window_tags.end());
    }
    Ports frames;
    for (const auto& rows : m_frames) {
        frames.push_back(frame(tags, inputs, rows));
    }
    return frames;
}

void TorchTensorSetToFrameFanin::finish() {
    std::int64_t second_copies = 0;
    for (const auto& rows : m_frames) {
        second_copies += rows.share->second_copies();
    }
    if (second_copies > 0) {
        log::info(name().text(), [&] {
            return std::to_string(second_copies) + (second_copies == 1 ? " frame had" : " frames had") +
                   " more samples inside ROIs than the first copy to the host, and needed a second one";
        });
    }
}

} // namespace spng
