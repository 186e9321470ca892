// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace spng {

/// Return the smallest size >= `minimum` that is a multiple of `multiple` and whose other prime factors are
/// at most 7. Such sizes are fast on the CPU and avoid cuFFT's path for large primes, which is slow and was
/// once wrong. `minimum` and `multiple` must be >= 1.
std::int64_t fast_fft_size(std::int64_t minimum, std::int64_t multiple = 1);

} // namespace spng
