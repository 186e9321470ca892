// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fourier resampling between two sampling periods ("LMN" method). It is exact for signals without frequencies
// above the lower of the two Nyquist frequencies if the length is a multiple of both periods.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Ratio of two sampling periods in lowest terms: `to` samples of the first period take as long as `from`
/// samples of the second.
struct PeriodRatio {
    std::int64_t from = 1;
    std::int64_t to = 1;
    /// Return the index of the last sample of the second period that is not later than sample `index` of the
    /// first, if both begin at the same time.
    std::int64_t floor(std::int64_t index) const;
    /// Return the index of the first sample of the second period that is not earlier than sample `index` of the
    /// first: the length in the second period of `index` samples of the first.
    std::int64_t ceil(std::int64_t index) const;
};

/// Return the ratio of two periods in ns, rounded to ps.
/// @throws Error(Configuration) if a period is not positive
PeriodRatio period_ratio(double from, double to);

/// Return the smallest length >= `length`, in samples of period `from`, that is a multiple of the period
/// `to`: 1499 samples of 100 ns with `to` = 500 ns give 1500. Periods are in ns and are rounded to ps.
/// @throws Error(Configuration) if a period is not positive, or if the result exceeds 64 `length` + 65536:
/// then the periods have no useful common multiple
std::int64_t rational_length(std::int64_t length, double from, double to);

/// Convert the spectrum of a real waveform of n_from samples, (..., n_from / 2 + 1), to that of n_to samples
/// that interpolate it, (..., n_to / 2 + 1). Values of the waveform do not change; the inverse transform
/// divides by n_to.
at::Tensor resample_spectrum(const at::Tensor& spectrum, std::int64_t n_from, std::int64_t n_to);

} // namespace spng
