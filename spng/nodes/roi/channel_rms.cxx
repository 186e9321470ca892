// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/channel_rms.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/context.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/image_noise.h"

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

void ChannelRMS::prepare_node(Environment& environment) {
    if (!config().expected_noise.empty()) {
        const at::Tensor& rms =
            environment.service<ImageNoise>(config().expected_noise, at_key("expected_noise")).rms();
        if (rms.defined()) {
            m_expected = rms.to(at::TensorOptions(context().device()).dtype(context().real()));
        }
    }
}

Ports ChannelRMS::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ChannelRMS::rms");
    std::vector<NamedTensor> tensors = inputs[0]->tensors();
    for (auto& tensor : tensors) {
        const at::Tensor measured = tensor.data.slice(-1, 0, std::nullopt, config().stride);
        if (m_expected.defined()) {
            const std::int64_t rows = tensor.data.size(1);
            tensor.expected_noise = rows == m_expected.size(1)
                                        ? m_expected
                                        : m_expected.narrow(1, tensor.channels->first_row, rows);
        }
        if (config().rms == "robust") {
            ChannelNoise noise = robust_noise(measured, config().cut);
            if (config().cap > 0) {
                const at::Tensor good = tensor.channels ? tensor.channels->good : at::Tensor{};
                noise = capped_noise(noise, {good, tensor.expected_noise}, config().cap);
            }
            tensor.summary = noise.rms;
            tensor.pedestal = noise.median;
        } else {
            tensor.summary = plain_rms(measured);
        }
    }
    return output_of(inputs[0], std::move(tensors));
}

} // namespace spng
