#pragma once
// Seeds of regions and their growth along ticks, over several images of the same channels: a short pulse is
// found in an image with a high pass, a long one in an image with a lower band. docs/decisions/regions.md
// says what each part buys.

#include "spng/core/field.h"
#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// Seeds are looked for in one or more images and grow in another, or in the same.
struct GrowthPass {
    std::vector<std::string> seed;
    std::string grow;
    double confirmed_fraction = 0;
    static constexpr auto fields() {
        using C = GrowthPass;
        return std::make_tuple(
            field(&C::seed, "seed", "", required(), "images in which seeds are looked for"),
            field(&C::grow, "grow", "", required(), "image in which they grow along ticks"),
            field(&C::confirmed_fraction, "confirmed_fraction", "1", between(0, 1),
                  "0: a seed must be confirmed; otherwise this part of the grown region, since among many "
                  "samples of a long "
                  "region some are confirmed by chance"));
    }
};

// Masks are packed (bit_ticks.h): int64 (view, channel, word).

/// x > pedestal + factor sigma + nominal, never for channels that are not good.
/// @param image  (view, channel, tick) with its RMS (view, channel) as summary and, if it has one, its
/// pedestal, from
///               SPNGChannelRMS
/// Throws Error(Internal) when the image has no summary.
at::Tensor above(const NamedTensor& image, double factor, double nominal = 0);

/// The runs that contain a seed, a sample above seed_factor; runs extend while the growing image stays above
/// grow_factor. With `confirmed`, a seed or the run must be confirmed as the pass says, unless the run holds
/// a sample above lone_factor.
/// @param confirmed  mask, or undefined: nothing needs confirmation
at::Tensor grown_seeds(const TensorSet& images, const GrowthPass& pass, double seed_factor,
                       double lone_factor, double grow_factor, const at::Tensor& confirmed);

/// Rows beside a row that is set, on the neighbouring channels of the same view; the row itself is included.
/// @param cyclic  the last channel of a view is next to its first (wrapped planes)
at::Tensor with_neighbours(const at::Tensor& mask, bool cyclic);

/// The mask as a tensor of the chain, unpacked: bool (view, channel, tick), with axes and channels of
/// `image`.
NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask);

} // namespace spng
