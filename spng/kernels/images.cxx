#include "spng/kernels/images.h"

namespace spng::kernels {

const Image* image_for(std::span<const Image> images, int capability) {
    const Image* best = nullptr;
    for (const Image& image : images) {
        const bool runs =
            image.capability <= capability && (image.is_ptx || image.capability / 10 == capability / 10);
        const bool better = best == nullptr || (best->is_ptx && !image.is_ptx) ||
                            (best->is_ptx == image.is_ptx && image.capability > best->capability);
        if (runs && better) {
            best = &image;
        }
    }
    return best;
}

} // namespace spng::kernels
