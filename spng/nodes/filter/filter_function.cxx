// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/filter_function.h"

#include "spng/core/registry.h"

#include <cmath>

namespace spng {
namespace {

const Registration<HfFilter> high_frequency{
    {.type = "HfFilter", .kind = "service", .text = "low-pass filter exp(-(f/sigma)^power / 2)"}};
const Registration<LfFilter> low_frequency{
    {.type = "LfFilter", .kind = "service", .text = "high-pass filter 1 - exp(-(f/tau)^2)"}};

} // namespace

double HfFilter::value(double frequency) const {
    if (config().flag && frequency == 0) {
        return 0;
    }
    return std::exp(-0.5 * std::pow(frequency / config().sigma, config().power));
}

double LfFilter::value(double frequency) const {
    return 1 - std::exp(-std::pow(frequency / config().tau, 2));
}

} // namespace spng
