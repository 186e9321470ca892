// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/resample.h"

#include "spng/core/error.h"

#include <ATen/ops/constant_pad_nd.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace spng {

namespace {

Error unfit_periods(double from, double to) {
    return {ErrorKind::Configuration,
            {.what = "two sampling periods have no useful common multiple",
             .seen = std::to_string(from) + " ns and " + std::to_string(to) + " ns",
             .expected = "positive periods in the ratio of small integers"}};
}

} // namespace

std::int64_t PeriodRatio::floor(std::int64_t index) const {
    const std::int64_t product = index * from;
    return product / to - (product % to < 0 ? 1 : 0);
}

std::int64_t PeriodRatio::ceil(std::int64_t index) const {
    return -floor(-index);
}

PeriodRatio period_ratio(double from, double to) {
    const auto from_ps = static_cast<std::int64_t>(std::llround(from * 1000));
    const auto to_ps = static_cast<std::int64_t>(std::llround(to * 1000));
    if (from_ps <= 0 || to_ps <= 0) {
        throw unfit_periods(from, to);
    }
    const std::int64_t common = std::gcd(from_ps, to_ps);
    return {from_ps / common, to_ps / common};
}

std::int64_t rational_length(std::int64_t length, double from, double to) {
    const std::int64_t step = period_ratio(from, to).to;
    const std::int64_t result = (length + step - 1) / step * step;
    if (result > 64 * length + 65536) {
        throw unfit_periods(from, to);
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
