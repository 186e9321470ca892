// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/fft_size.h"

#include <initializer_list>

namespace spng {
namespace {

bool has_only_small_factors(std::int64_t n) {
    for (const std::int64_t prime : {2, 3, 5, 7}) {
        while (n % prime == 0) {
            n /= prime;
        }
    }
    return n == 1;
}

} // namespace

std::int64_t fast_fft_size(std::int64_t minimum, std::int64_t multiple) {
    std::int64_t factor = (minimum + multiple - 1) / multiple;
    while (!has_only_small_factors(factor)) {
        ++factor;
    }
    return factor * multiple;
}

} // namespace spng
