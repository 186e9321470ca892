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
     .outputs = {"frame"},
     .text = "gathers the tensors of all groups into a frame"}};

} // namespace

std::vector<std::string> TorchTensorSetToFrameFanin::input_ports() const {
    std::vector<std::string> ports;
    for (int port = 0; port < config().multiplicity; ++port) {
        ports.push_back("set" + std::to_string(port));
    }
    return ports;
}

void TorchTensorSetToFrameFanin::prepare_node(Environment& environment) {
    m_groups = &environment.service<ViewGroups>(config().groups, name().text() + ", key groups");
    auto channels = std::make_shared<ChannelTable>();
    channels->ids = at::tensor(m_groups->anode().channels(), at::kInt).unsqueeze(0);
    channels->good = at::ones(channels->ids.sizes(), at::kBool);
    m_channels = std::move(channels);
}

NamedTensor TorchTensorSetToFrameFanin::gather(const std::string& tag, const Ports& inputs) const {
    const EventInfo& event = inputs[0]->event();
    std::vector<RowBlock> blocks;
    NamedTensor out;
    out.name = tag;
    for (const auto& set : inputs) {
        const NamedTensor* tensor = set->find(tag);
        if (tensor == nullptr) {
            continue;
        }
        blocks.push_back({tensor->data.cpu(), tensor->channels->ids,
                          std::llround(tensor->axes.back().period / event.tick)});
        out.unit = tensor->unit;
        out.notes.insert(tensor->notes.begin(), tensor->notes.end());
        if (tensor->summary.defined()) {
            if (!out.summary.defined()) {
                out.summary = at::zeros(m_channels->ids.numel(), at::kDouble);
            }
            scatter_values(tensor->summary.cpu().to(at::kDouble), tensor->channels->ids,
                           m_groups->anode().channels(), out.summary);
        }
    }
    if (blocks.empty()) {
        throw Error(ErrorKind::Internal, {.what = "no input has a tensor for the tag '" + tag + "'",
                                          .where = {},
                                          .seen = "sets without it",
                                          .expected = "a tensor called '" + tag + "' in one of them",
                                          .mend = "connect the node that makes it, or leave the tag out"});
    }
    out.data = scatter_rows(blocks, m_groups->anode().channels(), event.ticks);
    out.axes = {{"channel", "", 0, 1},
                {"tick", "ns", event.start + event.first_tick * event.tick, event.tick}};
    out.channels = m_channels;
    return out;
}

Ports TorchTensorSetToFrameFanin::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("TorchTensorSetToFrameFanin::pack");
    std::vector<NamedTensor> tensors;
    for (const auto& tag : config().tags) {
        tensors.push_back(gather(tag, inputs));
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace spng
