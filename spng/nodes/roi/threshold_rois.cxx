// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/threshold_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/roi/region_growth.h"

#include <ATen/TensorOperators.h>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const ThresholdROIsConfig&, PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::masks, image.samples() / 2);
    return std::vector<PlannedSet>(call.outputs, {call.make(image, MemoryUse::masks, 1)});
}

const Registration<ThresholdROIs> registration{{.type = "SPNGThresholdROIs",
                                                .kind = "roi",
                                                .inputs = {"images"},
                                                .outputs = {"regions"},
                                                .text = "finds ROIs where a channel exceeds its noise",
                                                .memory = memory_rule<ThresholdROIs>({.call = plan_memory})}};

} // namespace

Ports ThresholdROIs::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("ThresholdROIs::threshold");
    const TensorSet& images = *inputs[0];
    const NamedTensor& image = images.at(config().image);
    at::Tensor mask;
    if (config().passes.empty()) {
        mask = above(image, config().threshold_rms_factor, config().nominal);
    }
    for (const auto& pass : config().passes) {
        const at::Tensor grown =
            grown_seeds(images, pass, config().threshold_rms_factor, 0, config().grow_rms_factor, {});
        mask = mask.defined() ? mask | grown : grown;
    }
    if (config().weak_rms_factor > 0) {
        mask = mask | above(image, config().weak_rms_factor);
    }
    if (config().pad > 0) {
        mask = grow_packed_regions(mask, mask, image.data.size(2), config().pad, config().pad);
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(),
                                              std::vector{regions_like(image, config().output, mask)})};
}

} // namespace spng
