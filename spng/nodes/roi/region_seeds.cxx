// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_seeds.h"

#include "spng/core/error.h"
#include "spng/graph/tensor_node.h"

#include <algorithm>

namespace spng {

std::int64_t ImageLevels::add(const std::string& name, double factor, double nominal) {
    const auto known = std::find(m_names.begin(), m_names.end(), name);
    const auto index = known - m_names.begin();
    if (known == m_names.end()) {
        const NamedTensor& image = m_set.at(name);
        if (!image.summary.defined()) {
            throw Error(ErrorKind::Internal, {.what = "an ROI image has no noise RMS",
                                              .seen = "tensor '" + image.name + "' without summary",
                                              .expected = "the RMS (view, channel) as summary",
                                              .hint = "put an SPNGChannelRMS node before this one"});
        }
        LevelRows rows{.waveform = image.data, .rms = image.summary};
        if (image.pedestal.defined()) {
            rows.pedestal = image.pedestal;
        }
        m_names.push_back(name);
        m_images.push_back(std::move(rows));
    }
    m_levels.push_back({.waveform = index, .factor = factor, .nominal = nominal});
    return static_cast<std::int64_t>(m_levels.size()) - 1;
}

LevelSet ImageLevels::add(const std::vector<std::string>& images, double factor) {
    LevelSet levels = 0;
    for (const auto& image : images) {
        levels |= LevelSet{1} << add(image, factor);
    }
    return levels;
}

at::Tensor ImageLevels::packed() const {
    return pack_levels(m_images, m_levels, m_set.at(m_names.front()).channels->good);
}

RegionPass region_pass(ImageLevels& levels, const GrowthPass& pass, const SeedFactors& factors) {
    RegionPass result;
    result.seeds = levels.add(pass.seed, factors.seed);
    if (factors.lone) {
        result.lone = levels.add(pass.seed, *factors.lone);
    }
    result.grow = levels.add(pass.grow, factors.grow);
    result.confirmed_fraction = pass.confirmed_fraction;
    return result;
}

std::int64_t working_masks(const std::vector<GrowthPass>& passes, bool is_confirmed) {
    // Levels without a pass, and what the growth of a pass holds at once.
    std::int64_t masks = is_confirmed ? 1 + 6 : 2 + 4;
    for (const auto& pass : passes) {
        masks += static_cast<std::int64_t>(pass.seed.size()) * (is_confirmed ? 2 : 1) + 1;
    }
    return masks;
}

NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask) {
    NamedTensor regions = like(image, name, mask);
    regions.unit.clear();
    regions.encoding = PackedMask{image.data.size(2)};
    regions.summary = image.summary;
    return regions;
}

} // namespace spng
