// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/torch_tensor_set_to_frame_fanin.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/detector/view_groups.h"
#include "spng/device/host_copy.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/coincidence/mask_tensor.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

/// One frame per kind of input, float32 at the rate of the readout.
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
     .text = "gathers the tensors of all view groups into a frame, or into one frame per anode",
     .memory = memory_rule<TorchTensorSetToFrameFanin>({.call = plan_memory})}};

bool contains(const std::vector<int>& channels, int channel) {
    return std::binary_search(channels.begin(), channels.end(), channel);
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
        m_frames.push_back({channels, std::move(table), std::make_shared<const RowPositions>(channels)});
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

std::vector<NamedTensor> TorchTensorSetToFrameFanin::parts_in(const Rows& rows,
                                                              const NamedTensor& tensor) const {
    NamedTensor whole = tensor;
    whole.data = unpacked_mask(tensor);
    if (!is_split()) {
        return {whole};
    }
    // All channels of a view belong to one anode, so testing the first one is enough.
    std::vector<NamedTensor> parts;
    for (std::int64_t view = 0; view < whole.data.size(0); ++view) {
        const at::Tensor ids = tensor.channels->ids.narrow(0, view, 1);
        if (contains(rows.channels, *ids.const_data_ptr<std::int32_t>())) {
            NamedTensor part = whole;
            part.data = whole.data.narrow(0, view, 1);
            part.summary = tensor.summary.defined() ? tensor.summary.narrow(0, view, 1) : at::Tensor{};
            auto channels = std::make_shared<ChannelTable>();
            channels->ids = ids;
            part.channels = std::move(channels);
            parts.push_back(std::move(part));
        }
    }
    return parts;
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

TensorSetPtr TorchTensorSetToFrameFanin::arrived(const TensorSetPtr& output) const {
    if (!output || !output->event().findings) {
        return output;
    }
    auto event = std::make_shared<EventInfo>(output->event());
    event->findings.reset();
    const auto frame = std::find_if(m_frames.begin(), m_frames.end(), [&](const Rows& rows) {
        return rows.table == output->tensors().front().channels;
    });
    for (const auto& [mask, ranges] : output->event().findings->masks()) {
        for (const auto& range : ranges) {
            if (!is_split() || contains(frame->channels, range.channel)) {
                event->masks[mask].push_back(range);
            }
        }
    }
    return std::make_shared<const TensorSet>(std::move(event), output->tensors());
}

at::Tensor TorchTensorSetToFrameFanin::frame_of(const std::vector<RowBlock>& blocks, const Rows& rows,
                                                std::int64_t ticks) {
    if (blocks.empty() || blocks.front().data.is_cpu()) {
        return scatter_rows(blocks, rows.channels, ticks);
    }
    const bool masks = std::all_of(blocks.begin(), blocks.end(), [](const RowBlock& block) {
        return block.data.scalar_type() == at::kBool;
    });
    return begin_copy_to_host(
        scatter_rows_on_device(blocks, *rows.positions, ticks, masks ? at::kShort : at::kFloat));
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

NamedTensor TorchTensorSetToFrameFanin::gather(const std::string& tag, const Ports& inputs,
                                               const Rows& rows) const {
    const EventInfo& event = inputs[0]->event();
    std::vector<RowBlock> blocks, summaries;
    NamedTensor out;
    out.name = tag;
    bool is_found = false;
    for (const auto& set : inputs) {
        const NamedTensor* tensor = set->find(tag);
        if (tensor == nullptr) {
            continue;
        }
        is_found = true;
        out.unit = tensor->unit;
        for (const auto& part : parts_in(rows, *tensor)) {
            blocks.push_back(
                {part.data, part.channels->ids, std::llround(part.axes.back().period / event.tick)});
            merge_notes(out.notes, part.notes);
            if (part.summary.defined()) {
                summaries.push_back({part.summary.unsqueeze(-1), part.channels->ids, 1});
            }
        }
    }
    if (!is_found) {
        throw Error(ErrorKind::Internal, {.what = "no input has a tensor for the tag '" + tag + "'",
                                          .seen = "sets without it",
                                          .expected = "a tensor named '" + tag + "' in one of them",
                                          .hint = "connect the node that makes it, or remove the tag"});
    }
    out.data = frame_of(blocks, rows, event.ticks);
    out.summary = summary_of(summaries, rows);
    out.axes = {{"channel", "", 0, 1},
                {"tick", "ns", event.start + event.first_tick * event.tick, event.tick}};
    out.channels = rows.table;
    return out;
}

Ports TorchTensorSetToFrameFanin::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("TorchTensorSetToFrameFanin::pack");
    std::vector<std::string> tags = config().tags;
    if (inputs[0]->event().window) {
        tags.insert(tags.end(), config().window_tags.begin(), config().window_tags.end());
    }
    Ports frames;
    for (const auto& rows : m_frames) {
        std::vector<NamedTensor> tensors;
        for (const auto& tag : tags) {
            tensors.push_back(gather(tag, inputs, rows));
        }
        frames.push_back(
            std::make_shared<const TensorSet>(event_for(rows, inputs[0]->event_ptr()), std::move(tensors)));
    }
    return frames;
}

} // namespace spng
