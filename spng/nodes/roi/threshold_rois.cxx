// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/threshold_rois.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/region_growth.h"

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const ThresholdROIsConfig& config, PlannedCall& call) {
    const PlannedTensor regions = planned_mask(call, call.inputs.at(0).at(0));
    const auto working =
        call.scratch(MemoryUse::masks, regions.block->bytes() * working_masks(config.passes, false));
    return std::vector<PlannedSet>(call.outputs, {regions});
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
    const NamedTensor& image = inputs[0]->at(config().image);
    ImageLevels levels(*inputs[0]);
    RegionRule rule;
    rule.pad = config().pad;
    if (config().passes.empty()) {
        rule.always = LevelSet{1} << levels.add(image.name, config().threshold_rms_factor, config().nominal);
    }
    for (const auto& pass : config().passes) {
        rule.passes.push_back(region_pass(
            levels, pass, {.seed = config().threshold_rms_factor, .grow = config().grow_rms_factor}));
    }
    if (config().weak_rms_factor > 0) {
        rule.always |= LevelSet{1} << levels.add(image.name, config().weak_rms_factor);
    }
    const at::Tensor mask = find_regions(levels.packed(), {}, rule, image.data.size(2));
    return output_of(inputs[0], {regions_like(image, config().output, mask)});
}

} // namespace spng
