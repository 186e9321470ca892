// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/electronics_response.h"

#include <ATen/ops/empty.h>

#include <cmath>

namespace spng {

double electronics_response(const ColdElectronics& electronics, double time) {
    constexpr double longest = 10000; // ns
    if (!(time > 0 && time < longest)) {
        return 0;
    }
    const double r = time / electronics.shaping;
    const double slow = 4.31054 * std::exp(-2.94809 * r);
    const double middle =
        std::exp(-2.82833 * r) * (-5.24040 * std::cos(1.19361 * r) + 1.524912 * std::sin(1.19361 * r));
    const double fast =
        std::exp(-2.40318 * r) * (0.929848 * std::cos(2.5928 * r) - 0.655368 * std::sin(2.5928 * r));
    return 10.12 * electronics.gain * electronics.postgain * (slow + middle + fast);
}

at::Tensor sample_electronics_response(const ColdElectronics& electronics, double period,
                                       std::int64_t samples) {
    at::Tensor response = at::empty({samples}, at::kDouble);
    double* output = response.mutable_data_ptr<double>();
    for (std::int64_t sample = 0; sample < samples; ++sample) {
        output[sample] = electronics_response(electronics, (static_cast<double>(sample) + 0.5) * period);
    }
    return response;
}

} // namespace spng
