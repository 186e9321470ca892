// SPDX-License-Identifier: Apache-2.0
#pragma once
// Filter along one axis: product of filter functions, sampled at the frequencies of a discrete Fourier
// transform.

#include "spng/nodes/filter/filter_function.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

struct Torch1DSpectrumConfig {
    std::vector<std::string> spectra;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&Torch1DSpectrumConfig::spectra, "spectra", "", any(),
                  "names of the filters to multiply (HfFilter, LfFilter); empty: the filter is 1"));
    }
};

class Torch1DSpectrum : public ServiceWith<Torch1DSpectrumConfig> {
public:
    void prepare(Environment& environment) override;

    double value(double frequency) const;

    /// Return the values at bins 0 .. samples/2 of a real transform, f_k = k / (samples * period).
    /// @return (samples / 2 + 1) float64 on the host
    at::Tensor half(std::int64_t samples, double period) const;

    /// Return the values at all bins of a complex transform, f_k = min(k, samples - k) / (samples * period).
    /// @return (samples) float64 on the host
    at::Tensor full(std::int64_t samples, double period) const;

private:
    at::Tensor sampled(std::int64_t bins, std::int64_t samples, double period) const;
    std::vector<const FilterFunction*> m_functions;
};

} // namespace spng
