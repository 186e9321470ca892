#pragma once
// The pure step behind SPNGApply1DSpectrum: filter a spectrum along ticks and return to time, once.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// What multiplies the half spectrum before the inverse transform: the filter, the roll that brings charge to
/// its arrival time at the wires, the mean over the `rebin` ticks of an output sample, and the normalisation
/// of the shorter inverse.
///
/// G(f_k) = F(f_k) exp(-2 pi i k roll / N) D(k) / rebin,  k = 0 .. N / (2 rebin),
/// D(k) = (1 / rebin) sum_{j < rebin} exp(+2 pi i k j / N):
/// output sample q is the mean over ticks q rebin .. q rebin + rebin - 1 of the filtered, rolled waveform,
/// less what the filter leaves above the Nyquist frequency of the coarser grid. A roll is exact for any
/// number of ticks (shift theorem).
/// @param filter  (N / 2 + 1) float64: F at the bins of a real transform of N samples
/// @param padded_ticks  N, a multiple of rebin
/// @param roll    ticks by which charge moves later
/// @param rebin   >= 1
/// @return (N / (2 rebin) + 1) complex128
at::Tensor time_filter(const at::Tensor& filter, std::int64_t padded_ticks, std::int64_t roll,
                       std::int64_t rebin);

/// x_q = IRFFT_{N / rebin}[ S(c, f) G(f) ], cropped to `samples`.
/// @param spectrum  (view, channel, N / 2 + 1) complex [electrons per tick]
/// @param filter    (view or 1, 1, N / (2 rebin) + 1) complex, from time_filter()
/// @param length    N / rebin
/// @param samples   <= length: samples kept
/// @return (view, channel, samples) real, rows `length` apart in memory
/// Throws Error(Internal) for shapes that do not fit.
at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples);

} // namespace spng
