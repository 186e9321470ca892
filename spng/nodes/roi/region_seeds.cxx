// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/region_seeds.h"

#include "spng/core/error.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "spng/nodes/roi/neighbours.h"
#include "spng/nodes/roi/region_growth.h"

#include <ATen/TensorOperators.h>

namespace spng {

at::Tensor above(const NamedTensor& image, double factor, double nominal) {
    if (!image.summary.defined()) {
        throw Error(ErrorKind::Internal, {.what = "an ROI image has no noise RMS",
                                          .seen = "tensor '" + image.name + "' without summary",
                                          .expected = "the RMS (view, channel) as summary",
                                          .hint = "put an SPNGChannelRMS node before this one"});
    }
    Threshold threshold{
        .rms = image.summary, .factor = factor, .nominal = nominal, .good = image.channels->good};
    if (image.pedestal.defined()) {
        threshold.pedestal = image.pedestal;
    }
    return pack_above(image.data, threshold);
}

namespace {

at::Tensor above_in_any(const TensorSet& images, const std::vector<std::string>& names, double factor) {
    at::Tensor mask = above(images.at(names.front()), factor);
    for (std::size_t i = 1; i < names.size(); ++i) {
        mask = mask | above(images.at(names[i]), factor);
    }
    return mask;
}

} // namespace

at::Tensor grown_seeds(const TensorSet& images, const GrowthPass& pass, double seed_factor,
                       double lone_factor, double grow_factor, const at::Tensor& confirmed) {
    const NamedTensor& growing = images.at(pass.grow);
    const std::int64_t ticks = growing.data.size(2);
    at::Tensor seeds = above_in_any(images, pass.seed, seed_factor);
    const bool by_seed = confirmed.defined() && pass.confirmed_fraction == 0;
    const bool by_run = confirmed.defined() && !by_seed;
    const at::Tensor lone = confirmed.defined() ? above_in_any(images, pass.seed, lone_factor) : at::Tensor{};
    if (by_seed) {
        seeds = (seeds & confirmed) | lone;
    }
    const at::Tensor runs = grow_packed_regions(seeds, above(growing, grow_factor), ticks, 0, 0);
    return by_run ? confirmed_runs(runs, confirmed, lone, ticks, pass.confirmed_fraction) : runs;
}

at::Tensor with_neighbours(const at::Tensor& mask, bool cyclic) {
    return combined_with_neighbours(mask, cyclic,
                                    [](at::Tensor into, const at::Tensor& from) { into.bitwise_or_(from); });
}

NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask) {
    NamedTensor regions;
    regions.name = name;
    regions.data = unpack_ticks(mask, image.data.size(2));
    regions.summary = image.summary;
    regions.axes = image.axes;
    regions.channels = image.channels;
    regions.notes = image.notes;
    return regions;
}

} // namespace spng
