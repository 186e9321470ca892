#include "spng/roi/region_seeds.h"

#include "spng/coincidence/bit_ticks.h"
#include "spng/core/error.h"
#include "spng/roi/region_growth.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/where.h>

#include <limits>

namespace spng {

at::Tensor above(const NamedTensor& image, double factor, double nominal) {
    if (!image.summary.defined()) {
        throw Error(ErrorKind::Internal, {.what = "an image without the noise RMS of its channels",
                                          .where = {},
                                          .seen = "tensor '" + image.name + "' without summary",
                                          .expected = "its RMS as summary",
                                          .mend = "put an SPNGChannelRMS node before this one"});
    }
    at::Tensor threshold = image.summary * factor;
    if (image.pedestal.defined()) {
        threshold = threshold + image.pedestal;
    }
    if (nominal != 0) {
        threshold = threshold + nominal;
    }
    return pack_above(image.data,
                      at::where(image.channels->good, threshold, std::numeric_limits<double>::infinity()));
}

at::Tensor grown_seeds(const TensorSet& images, const GrowthPass& pass, double seed_factor,
                       double lone_factor, double grow_factor, const at::Tensor& confirmed) {
    const NamedTensor& seed_image = images.at(pass.seed);
    at::Tensor seeds = above(seed_image, seed_factor);
    if (confirmed.defined()) {
        seeds = (seeds & confirmed) | above(seed_image, lone_factor);
    }
    return grow_packed_regions(seeds, above(images.at(pass.grow), grow_factor), seed_image.data.size(2), 0,
                               0);
}

at::Tensor with_neighbours(const at::Tensor& mask, bool cyclic) {
    at::Tensor wider = mask.clone();
    const std::int64_t last = mask.size(1) - 1;
    if (last > 0) {
        wider.narrow(1, 1, last).bitwise_or_(mask.narrow(1, 0, last));
        wider.narrow(1, 0, last).bitwise_or_(mask.narrow(1, 1, last));
        if (cyclic) {
            wider.narrow(1, 0, 1).bitwise_or_(mask.narrow(1, last, 1));
            wider.narrow(1, last, 1).bitwise_or_(mask.narrow(1, 0, 1));
        }
    }
    return wider;
}

NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask) {
    NamedTensor regions;
    regions.name = name;
    regions.data = unpack_ticks(mask, image.data.size(2));
    regions.summary = image.summary;
    regions.axes = image.axes;
    regions.channels = image.channels;
    return regions;
}

} // namespace spng
