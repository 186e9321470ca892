#pragma once
// One forward of a network on images of any size: axes in the network's order, padded to the sizes it can
// pool, cut along ticks if memory asks for it.

#include "spng/nodes/dnn/model.h"

namespace spng {

/// What a network asks of its input.
struct ModelLayout {
    bool transpose = false;     ///< it wants (view, feature, tick, channel)
    std::int64_t multiple = 16; ///< channels and ticks are padded with zeros at their ends to multiples of it
    std::int64_t halo = 0;      ///< samples along ticks on which an output depends, to each side
};

/// @param features  float32 (view, feature, channel, tick)
/// @param chunk     output ticks of one forward; 0: all at once. With a sufficient halo the result does not
///                  depend on it, but for the rounding of float32 sums.
/// @return (view, channel, tick), contiguous
/// Throws what Model::forward throws, and Error(Model) naming the file for an output that is not one number
/// for each channel and tick.
at::Tensor windowed_forward(const Model& model, const at::Tensor& features, const ModelLayout& layout,
                            std::int64_t chunk);

} // namespace spng
