#pragma once
// The compiled kernels.

#include <span>

namespace spng::kernels {

/// All kernels for one kind of device.
struct Image {
    int capability; ///< 90 for compute capability 9.0
    bool is_ptx;    ///< PTX runs on this and all later devices, machine code on those of its own generation
    const char* data;
};

/// Those that the build embedded (waf/spng_cuda.py); in libWireCellSpngCuda.so only.
std::span<const Image> images();

/// The best one for a device: machine code of its generation that is not newer than it, else the latest PTX
/// that it understands. Null when there is none.
/// @param capability  as of Image
const Image* image_for(std::span<const Image> images, int capability);

} // namespace spng::kernels
