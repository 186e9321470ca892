// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/channel_rms.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/graph/memory_rule.h"

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const ChannelRMSConfig&, PlannedCall& call) {
    std::int64_t bytes = 0;
    for (const auto& tensor : call.inputs.at(0)) {
        bytes += tensor.block->bytes();
    }
    const auto working = call.scratch(MemoryUse::images, bytes / 4);
    return {call.inputs.at(0)};
}

const Registration<ChannelRMS> registration{{.type = "SPNGChannelRMS",
                                             .kind = "roi",
                                             .inputs = {"waveforms"},
                                             .outputs = {"waveforms"},
                                             .text = "adds the noise RMS of each channel",
                                             .memory = memory_rule<ChannelRMS>({.call = plan_memory})}};

} // namespace

Ports ChannelRMS::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ChannelRMS::rms");
    std::vector<NamedTensor> tensors = inputs[0]->tensors();
    for (auto& tensor : tensors) {
        const at::Tensor measured = tensor.data.slice(-1, 0, std::nullopt, config().stride);
        if (config().rms == "robust") {
            ChannelNoise noise = robust_noise(measured, config().cut);
            if (config().cap > 0) {
                noise = capped_noise(noise, config().cap);
            }
            tensor.summary = noise.rms;
            tensor.pedestal = noise.median;
        } else {
            tensor.summary = plain_rms(measured);
        }
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace spng
