// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/filter/torch_1d_spectrum.h"

#include "spng/core/registry.h"

#include <ATen/ops/empty.h>

#include <algorithm>

namespace spng {
namespace {

const Registration<Torch1DSpectrum> registration{
    {.type = "Torch1DSpectrum", .kind = "service", .text = "product of filters along one axis"}};

} // namespace

void Torch1DSpectrum::prepare(Environment& environment) {
    for (const auto& reference : config().spectra) {
        m_functions.push_back(&environment.service<FilterFunction>(reference, at_key("spectra")));
    }
}

double Torch1DSpectrum::value(double frequency) const {
    double product = 1;
    for (const auto* function : m_functions) {
        product *= function->value(frequency);
    }
    return product;
}

at::Tensor Torch1DSpectrum::half(std::int64_t samples, double period) const {
    return sampled(samples / 2 + 1, samples, period);
}

at::Tensor Torch1DSpectrum::full(std::int64_t samples, double period) const {
    return sampled(samples, samples, period);
}

at::Tensor Torch1DSpectrum::sampled(std::int64_t bins, std::int64_t samples, double period) const {
    at::Tensor values = at::empty({bins}, at::kDouble);
    auto* out = values.mutable_data_ptr<double>();
    for (std::int64_t k = 0; k < bins; ++k) {
        out[k] =
            value(static_cast<double>(std::min(k, samples - k)) / (static_cast<double>(samples) * period));
    }
    return values;
}

} // namespace spng
