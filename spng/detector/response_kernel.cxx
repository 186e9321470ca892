// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/response_kernel.h"

#include "spng/core/error.h"
#include "spng/detector/resample.h"

#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>

#include <cmath>
#include <string>

namespace spng {

at::Tensor response_kernel(const at::Tensor& average, double period, const Electronics& electronics,
                           const ResponseKernelConfig& config) {
    if (!(config.lsb > 0)) {
        throw Error(ErrorKind::Configuration, {.what = "invalid step of the digitiser",
                                               .where = "response kernel",
                                               .seen = std::to_string(config.lsb) + " V",
                                               .expected = "a positive voltage"});
    }
    const auto electronics_samples =
        static_cast<std::int64_t>(std::llround(config.electronics_duration / period));
    const at::Tensor shape = sample_electronics_response(electronics, period, electronics_samples);
    // Transforms at least as long as the linear convolution avoid the wrap-around of a cyclic one.
    const std::int64_t fine = rational_length(average.size(1) + electronics_samples - 1, period, config.tick);
    const auto ticks =
        static_cast<std::int64_t>(std::llround(static_cast<double>(fine) * period / config.tick));
    const at::Tensor spectrum = at::fft_rfft(average, fine).mul(at::fft_rfft(shape, fine));
    const at::Tensor waveform = at::fft_irfft(resample_spectrum(spectrum, fine, ticks), ticks);

    constexpr double femtocoulomb_per_electron = 1.602176634e-4;
    constexpr double volt_per_millivolt = 1e-3;
    // The factor -1 makes collected charge positive: currents count the negative charge of electrons.
    return waveform.mul(-period * femtocoulomb_per_electron * volt_per_millivolt / config.lsb);
}

} // namespace spng
