// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/coincidence_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "spng/nodes/roi/region_growth.h"

#include <ATen/TensorOperators.h>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const CoincidenceROIsConfig&, PlannedCall& call) {
    const PlannedTensor& image = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::masks, image.samples() / 2);
    return std::vector<PlannedSet>(call.outputs, {call.make(image, MemoryUse::masks, 1)});
}

const Registration<CoincidenceROIs> registration{
    {.type = "SPNGCoincidenceROIs",
     .kind = "roi",
     .inputs = {"images", "coincidence"},
     .outputs = {"regions"},
     .text = "finds ROIs from seeds that the other views confirm",
     .memory = memory_rule<CoincidenceROIs>({.call = plan_memory})}};

} // namespace

Ports CoincidenceROIs::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("CoincidenceROIs::grow");
    const TensorSet& images = *inputs[0];
    const at::Tensor confirmed =
        pack_ticks(inputs[1]->at("mp2").data) | pack_ticks(inputs[1]->at("mp3").data);
    const NamedTensor& neighbour_image = images.at(config().neighbour_image);
    at::Tensor mask;
    for (const auto& pass : config().passes) {
        const at::Tensor core =
            grown_seeds(images, pass, config().seed_rms_factor, config().lone_seed_rms_factor,
                        config().grow_rms_factor, confirmed);
        if (mask.defined()) {
            mask = mask | core;
        } else {
            const at::Tensor beside = with_neighbours(core, config().cyclic) & confirmed;
            mask = core | (beside & above(neighbour_image, config().neighbour_rms_factor));
        }
    }
    mask = grow_packed_regions(mask, mask, neighbour_image.data.size(2), config().pad, config().pad);
    return {std::make_shared<const TensorSet>(
        inputs[0]->event_ptr(), std::vector{regions_like(neighbour_image, config().output, mask)})};
}

} // namespace spng
