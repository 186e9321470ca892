// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/coincidence_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/rows/encodings.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/region_growth.h"

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const CoincidenceROIsConfig& config, PlannedCall& call) {
    const PlannedTensor regions = planned_mask(call, call.inputs.at(0).at(0));
    const auto working =
        call.scratch(MemoryUse::masks, regions.block->bytes() * working_masks(config.passes, true));
    return std::vector<PlannedSet>(call.outputs, {regions});
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
    const NamedTensor& image = inputs[0]->at(config().neighbour_image);
    ImageLevels levels(*inputs[0]);
    RegionRule rule;
    for (const auto& pass : config().passes) {
        rule.passes.push_back(region_pass(levels, pass,
                                          {.seed = config().seed_rms_factor,
                                           .lone = config().lone_seed_rms_factor,
                                           .grow = config().grow_rms_factor}));
    }
    rule.beside = levels.add(image.name, config().neighbour_rms_factor);
    rule.cyclic = config().cyclic;
    rule.pad = config().pad;
    const at::Tensor mask =
        find_regions(levels.packed(), {packed_mask(inputs[1]->at("mp2")), packed_mask(inputs[1]->at("mp3"))},
                     rule, image.data.size(2));
    return output_of(inputs[0], {regions_like(image, config().output, mask)});
}

} // namespace spng
