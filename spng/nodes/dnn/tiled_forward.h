// SPDX-License-Identifier: Apache-2.0
#pragma once
// Forward of a network on images of any size: axes in the network's order, padded for its pooling, and cut
// into tiles along ticks if memory is limited.

#include "spng/nodes/dnn/model.h"

namespace spng {

/// Input layout of a network.
struct ModelLayout {
    bool transpose = false; ///< input is (view, feature, tick, channel)
    std::int64_t multiple =
        16;                ///< channels and ticks are padded with zeros at their ends to multiples of this
    std::int64_t halo = 0; ///< samples along ticks on which an output depends, to each side
};

/// Run the network on tiles of the features.
/// @param features  (view, feature, channel, tick) float32
/// @param chunk     output ticks per tile; 0: one tile. With a sufficient halo the result does not depend on
///                  it, except for the rounding of float32 sums.
/// @return (view, channel, tick), contiguous
/// @throws Error(Model) naming the file if the output is not one value per channel and tick; errors of
///         Model::forward
at::Tensor tiled_forward(const Model& model, const at::Tensor& features, const ModelLayout& layout,
                         std::int64_t chunk);

} // namespace spng
