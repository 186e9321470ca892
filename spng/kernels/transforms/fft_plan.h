// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plans of the transforms in shared memory (fft.cuh, docs/decisions/own-fft.md): radices, and tables on the
// device.

#include "spng/kernels/launch.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng::kernels {

/// Elements that the threads of a block transform: one row of float32 or float64, or adjacent columns of tile_bytes.
enum class FftUse { row, tile };

/// Return the radices of the stages, the outermost first: as few as possible, at least two, up to max_radix and
/// max_inner_radix (sizes.h), in the order with the fewest bank conflicts. Empty if a prime factor is greater than 7.
std::vector<std::int64_t> fft_radices(std::int64_t length, FftUse use);

/// Complex transform of one length.
struct FftPlan {
    std::int64_t length = 0;
    std::int64_t radices = 0; ///< four bits each, the outermost stage in the lowest ones
    /// Complex: for each stage the factors exp(-2 pi i j q / (radix distance)), (q - 1, j) with
    /// q = 1 .. radix - 1 and j < distance, then exp(-pi i k / length) for k = 0 .. length / 2. Computed in
    /// long double.
    at::Tensor roots;
    /// int32 (2, length): the position after a forward transform of each frequency, and the frequency at each
    /// position.
    at::Tensor order;

    template <class Real>
    const c10::complex<Real>* twiddles() const {
        return roots.const_data_ptr<c10::complex<Real>>();
    }
    template <class Real>
    const c10::complex<Real>* turns() const {
        return twiddles<Real>() + roots.size(0) - (length / 2 + 1);
    }
    const std::int32_t* positions() const { return order.const_data_ptr<std::int32_t>(); }
    const std::int32_t* frequencies() const { return positions() + length; }
};

/// Real transform of `samples`: a complex one of half the length, or of the same length if that is odd.
struct RealFftSize {
    std::int64_t samples;
    bool is_halved() const { return samples % 2 == 0; }
    std::int64_t length() const { return is_halved() ? samples / 2 : samples; }
    std::int64_t frequencies() const { return samples / 2 + 1; }
};

/// Return true if kernels can do this transform: no prime factor above 7, and `shared_bytes` within the
/// limit of the device. All other transforms are those of ATen.
bool can_transform(std::int64_t length, FftUse use, std::int64_t shared_bytes, c10::Device device);

/// Return the plan of a complex transform. Its tables are made once for each length, use, type and device, and
/// kept until the process ends, as captured graphs read them. The first call must not be inside a capture.
/// @param length  of a transform that is possible
/// @param type    at::kFloat or at::kDouble
FftPlan fft_plan(std::int64_t length, FftUse use, at::ScalarType type, c10::Device device);

} // namespace spng::kernels
