// SPDX-License-Identifier: Apache-2.0
#pragma once
// Seeds of ROIs and their growth along ticks, in several ROI images of the same channels. Short pulses are
// found in an image with a high pass, long pulses in an image with a lower band. docs/decisions/regions.md
// gives the gain of each part.

#include "spng/core/field.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/tensor_set.h"
#include "spng/nodes/roi/region_growth.h"

#include <optional>
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

/// Masks of the ROI images of a set above thresholds, found in one pass over each image (pack_levels).
class ImageLevels {
public:
    /// @param images  kept as a reference
    explicit ImageLevels(const TensorSet& images) : m_set(images) {}

    /// Ask for the mask x > pedestal + factor rms + nominal of an image; 0 for channels that are not good. An
    /// undefined pedestal is 0.
    /// @return index of the mask in packed()
    /// @throws Error(Internal) if there is no such image, or if it has no RMS (SPNGChannelRMS)
    std::int64_t add(const std::string& image, double factor, double nominal = 0);

    /// Ask for masks of several images.
    LevelSet add(const std::vector<std::string>& images, double factor);

    /// Return the masks (level, view, channel, word) int64 in the order of the calls.
    at::Tensor packed() const;

private:
    const TensorSet& m_set;
    std::vector<std::string> m_names; ///< of m_images
    std::vector<LevelRows> m_images;
    std::vector<Level> m_levels;
};

/// Factors on the RMS of a channel.
struct SeedFactors {
    double seed = 4;
    std::optional<double> lone = {}; ///< of a seed that needs no confirmation; empty: nothing is confirmed
    double grow = 1;
};

/// Ask for the levels of a pass, and return the pass.
RegionPass region_pass(ImageLevels& levels, const GrowthPass& pass, const SeedFactors& factors);

/// Return the masks besides the result that a node with these passes holds at once.
/// @param is_confirmed  with a factor for seeds that need no confirmation
std::int64_t working_masks(const std::vector<GrowthPass>& passes, bool is_confirmed);

/// Return packed ROIs with summary, axes, channels and notes of `image`.
/// @param mask  (view, channel, word) int64
NamedTensor regions_like(const NamedTensor& image, const std::string& name, const at::Tensor& mask);

} // namespace spng
