// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/resample.h"

#include "spng/core/error.h"

#include <ATen/ops/constant_pad_nd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace spng {

std::int64_t rational_length(std::int64_t length, double from, double to) {
    const auto picoseconds = [](double period) {
        return static_cast<std::int64_t>(std::llround(period * 1000));
    };
    const std::int64_t step = picoseconds(from) > 0 && picoseconds(to) > 0
                                  ? picoseconds(to) / std::gcd(picoseconds(from), picoseconds(to))
                                  : 0;
    const std::int64_t result = step == 0 ? 0 : (length + step - 1) / step * step;
    if (step == 0 || result > 64 * length + 65536) {
        throw Error(ErrorKind::Configuration,
                    {.what = "two sampling periods have no useful common multiple",
                     .seen = std::to_string(from) + " ns and " + std::to_string(to) + " ns",
                     .expected = "positive periods in the ratio of small integers"});
    }
    return result;
}

at::Tensor resample_spectrum(const at::Tensor& spectrum, std::int64_t n_from, std::int64_t n_to) {
    const std::int64_t kept = std::min(n_from, n_to) / 2 + 1;
    at::Tensor scaled =
        spectrum.narrow(-1, 0, kept).mul(static_cast<double>(n_to) / static_cast<double>(n_from));
    if (n_to <= n_from) {
        // A kept Nyquist bin holds both signs of its frequency. The inverse real transform uses its real
        // part, the mean of the two.
        return scaled;
    }
    if (n_from % 2 == 0) {
        scaled.narrow(-1, kept - 1, 1).mul_(0.5); // half of it moves to the negative frequency
    }
    return at::constant_pad_nd(scaled, {0, n_to / 2 + 1 - kept});
}

} // namespace spng
