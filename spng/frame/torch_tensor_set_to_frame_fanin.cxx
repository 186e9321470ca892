#include "spng/frame/torch_tensor_set_to_frame_fanin.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/view_groups.h"
#include "spng/frame/row_scatter.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

const Registration<TorchTensorSetToFrameFanin> registration{
    {.type = "SPNGTorchTensorSetToFrameFanin",
     .kind = "frame",
     .inputs = {"*"},
     .outputs = {"*"},
     .text = "gathers the tensors of all groups into a frame, or into one for each anode"}};

bool holds(const std::vector<int>& channels, int channel) {
    return std::binary_search(channels.begin(), channels.end(), channel);
}

} // namespace

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
    const auto& groups = environment.service<ViewGroups>(config().groups, name().text() + ", key groups");
    const auto add_frame = [&](const std::vector<int>& channels) {
        auto table = std::make_shared<ChannelTable>();
        table->ids = at::tensor(channels, at::kInt).unsqueeze(0);
        table->good = at::ones(table->ids.sizes(), at::kBool);
        m_frames.push_back({channels, std::move(table)});
    };
    for (const auto& wanted : config().anodes) {
        const auto& anode = environment.service<AnodePlane>(wanted, name().text() + ", key anodes");
        if (std::find(groups.anodes().begin(), groups.anodes().end(), &anode) == groups.anodes().end()) {
            refuse("anodes", wanted, "anodes whose views are in " + groups.name().text());
        }
        add_frame(anode.channels());
    }
    if (!is_split()) {
        add_frame(groups.channels());
    }
}

std::vector<NamedTensor> TorchTensorSetToFrameFanin::parts_in(const Rows& rows,
                                                              const NamedTensor& tensor) const {
    if (!is_split()) {
        return {tensor};
    }
    // A view is of one anode, so that its first channel stands for all of them.
    std::vector<NamedTensor> parts;
    for (std::int64_t view = 0; view < tensor.data.size(0); ++view) {
        const at::Tensor ids = tensor.channels->ids.narrow(0, view, 1);
        if (holds(rows.channels, *ids.const_data_ptr<std::int32_t>())) {
            NamedTensor part = tensor;
            part.data = tensor.data.narrow(0, view, 1);
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
            if (holds(rows.channels, range.channel)) {
                own->masks[mask].push_back(range);
            }
        }
    }
    return own;
}

NamedTensor TorchTensorSetToFrameFanin::gather(const std::string& tag, const Ports& inputs,
                                               const Rows& rows) const {
    const EventInfo& event = inputs[0]->event();
    std::vector<RowBlock> blocks;
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
                {part.data.cpu(), part.channels->ids, std::llround(part.axes.back().period / event.tick)});
            out.notes.insert(part.notes.begin(), part.notes.end());
            if (part.summary.defined()) {
                if (!out.summary.defined()) {
                    out.summary = at::zeros(static_cast<std::int64_t>(rows.channels.size()), at::kDouble);
                }
                scatter_values(part.summary.cpu().to(at::kDouble), part.channels->ids, rows.channels,
                               out.summary);
            }
        }
    }
    if (!is_found) {
        throw Error(ErrorKind::Internal, {.what = "no input has a tensor for the tag '" + tag + "'",
                                          .where = {},
                                          .seen = "sets without it",
                                          .expected = "a tensor called '" + tag + "' in one of them",
                                          .mend = "connect the node that makes it, or leave the tag out"});
    }
    out.data = scatter_rows(blocks, rows.channels, event.ticks);
    out.axes = {{"channel", "", 0, 1},
                {"tick", "ns", event.start + event.first_tick * event.tick, event.tick}};
    out.channels = rows.table;
    return out;
}

Ports TorchTensorSetToFrameFanin::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("TorchTensorSetToFrameFanin::pack");
    Ports frames;
    for (const auto& rows : m_frames) {
        std::vector<NamedTensor> tensors;
        for (const auto& tag : config().tags) {
            tensors.push_back(gather(tag, inputs, rows));
        }
        frames.push_back(
            std::make_shared<const TensorSet>(event_for(rows, inputs[0]->event_ptr()), std::move(tensors)));
    }
    return frames;
}

} // namespace spng
