#pragma once

#include <cstdint>

namespace spng {

/// The smallest size >= `minimum` that is a multiple of `multiple` and has no prime factor above 7 beyond
/// those of `multiple`: fast on the CPU and free of cuFFT's slow and once wrong large-prime path. `minimum`
/// and `multiple` >= 1.
std::int64_t fast_fft_size(std::int64_t minimum, std::int64_t multiple = 1);

} // namespace spng
