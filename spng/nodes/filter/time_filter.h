// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of SPNGApply1DSpectrum: filter a spectrum along ticks and transform it back to time
// (docs/physics-notes.md#time-filters).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Return the factor for the half spectrum before the inverse transform. It is the product of the filter, the
/// roll of the charge to its arrival time at the wires, the mean over the `rebin` ticks of an output sample,
/// and the normalisation of the shorter inverse transform:
///
/// G(f_k) = F(f_k) exp(-2 pi i k roll / N) D(k) / rebin,  k = 0 .. N / (2 rebin),
/// D(k) = (1 / rebin) sum_{j < rebin} exp(+2 pi i k j / N).
///
/// Output sample q is the mean over ticks q rebin .. q rebin + rebin - 1 of the filtered, rolled waveform,
/// without the frequencies above the Nyquist frequency of the coarser grid. The roll is exact (shift
/// theorem).
/// @param filter        (N / 2 + 1) float64: F at the bins of a real transform of N samples
/// @param padded_ticks  N, a multiple of `rebin`
/// @param roll          ticks by which charge moves to later times
/// @param rebin         ticks per output sample, at least 1
/// @return (N / (2 rebin) + 1) complex128
at::Tensor time_filter(const at::Tensor& filter, std::int64_t padded_ticks, std::int64_t roll,
                       std::int64_t rebin);

/// Return x_q = IRFFT_{N / rebin}[ S(c, f) G(f) ], cropped to `samples`.
/// @param spectrum  (view, channel, N / 2 + 1) complex [electrons per tick]
/// @param filter    (view or 1, 1, N / (2 rebin) + 1) complex of the same type, from time_filter()
/// @param length    N / rebin
/// @param samples   length of the output rows, at most `length`
/// @return (view, channel, samples) real, with a row stride of `length` or, from our kernel, `samples`
/// @throws Error(Internal) if the shapes do not fit
/// One operator call: spng::apply_time_filter.
at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples);

/// The body by ATen's transform: on the CPU, and on a device for lengths that its kernel cannot do.
at::Tensor apply_time_filter_composite(const at::Tensor& spectrum, const at::Tensor& filter,
                                       std::int64_t length, std::int64_t samples);

namespace kernels { // the body on CUDA: spng/kernels/transforms/time_filter.cxx
at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples);
} // namespace kernels

} // namespace spng
