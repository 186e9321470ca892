#pragma once
// Fourier resampling between two sampling periods ("LMN" method): exact for signals without frequencies above
// the lower of the two Nyquist frequencies, provided that the length is a whole number of both periods.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// The smallest length >= `length`, in samples of period `from`, that is a whole number of periods `to`.
/// Periods in ns, taken to the ps. 1499 samples of 100 ns, to 500 ns: 1500.
/// Throws Error(Configuration) when a period is not positive or that length exceeds 64 times `length` plus
/// 65536: then the periods have no useful common multiple.
std::int64_t rational_length(std::int64_t length, double from, double to);

/// Real spectrum (..., n_from / 2 + 1) of n_from samples -> real spectrum (..., n_to / 2 + 1) of n_to samples
/// that interpolate the same waveform (values keep their size; the inverse transform divides by n_to).
at::Tensor resample_spectrum(const at::Tensor& spectrum, std::int64_t n_from, std::int64_t n_to);

} // namespace spng
