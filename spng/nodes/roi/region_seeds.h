// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seeds of ROIs and their growth along ticks, in several ROI images of the same channels. Short pulses are
// found in an image with a high pass, long pulses in an image with a lower band. docs/decisions/regions.md
// gives the gain of each part.

#include "spng/core/field.h"
#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// ROI images in which seeds are searched, and the one in which they grow.
struct GrowthPass {
    std::vector<std::string> seed;
    std::string grow;
    double confirmed_fraction = 0;
    static constexpr auto fields() {
        using C = GrowthPass;
        return std::make_tuple(
            field(&C::seed, "seed", "", required(), "names of the ROI images in which seeds are searched"),
            field(&C::grow, "grow", "", required(), "name of the ROI image in which seeds grow along ticks"),
            field(&C::confirmed_fraction, "confirmed_fraction", "1", between(0, 1),
                  "share of the grown ROI that must be confirmed, because some samples of a long ROI are "
                  "confirmed by chance; 0: the seed must be confirmed"));
    }
};

// Masks are packed (bit_ticks.h): (view, channel, word) int64.

/// Return the mask x > pedestal + factor rms + nominal; 0 for channels that are not good.
/// @param image  (view, channel, tick) with its RMS (view, channel) as summary, from SPNGChannelRMS; an
///               undefined pedestal is 0
/// @throws Error(Internal) if the image has no summary
at::Tensor above(const NamedTensor& image, double factor, double nominal = 0);

/// Return the runs above `grow_factor` in the image pass.grow that contain a seed, which is a sample above
/// `seed_factor` in one of the images pass.seed. With `confirmed`, the seed or the run must be confirmed
/// (pass.confirmed_fraction), unless the run contains a seed above `lone_factor`.
/// @param confirmed  mask; undefined: no confirmation is needed
at::Tensor grown_seeds(const TensorSet& images, const GrowthPass& pass, double seed_factor,
                       double lone_factor, double grow_factor, const at::Tensor& confirmed);

/// Return the OR of each row with the rows of the neighbouring channels of its view.
/// @param cyclic  true: the last channel of a view is next to its first (wrapped planes)
at::Tensor with_neighbours(const at::Tensor& mask, bool cyclic);

/// Unpack a mask to bool (view, channel, tick), with summary, axes, channels and notes of `image`.
NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask);

} // namespace spng
