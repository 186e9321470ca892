// SPDX-License-Identifier: Apache-2.0
#include "gain_correction.h"

#include <WireCellSpng/TorchnvTools.h>

#include <ATen/ops/div.h>

#include <memory>
#include <utility>
#include <vector>

namespace example {
namespace {

const spng::Registration<GainCorrection> registration{{.type = "ExampleGainCorrection",
                                                       .kind = "roi",
                                                       .inputs = {"waveforms"},
                                                       .outputs = {"waveforms"},
                                                       .text = "waveforms for another gain"}};

} // namespace

at::Tensor correct_gain(const at::Tensor& waveform, double factor) {
    return at::div(waveform, factor);
}

spng::Ports GainCorrection::process(const spng::Ports& inputs) {
    NVTX_SCOPED_RANGE("GainCorrection::divide");
    std::vector<spng::NamedTensor> tensors = inputs[0]->tensors();
    for (auto& tensor : tensors) {
        tensor.data = correct_gain(tensor.data, config().factor);
    }
    return {std::make_shared<const spng::TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace example
