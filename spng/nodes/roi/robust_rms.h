// SPDX-License-Identifier: Apache-2.0
#pragma once
// Noise level of a channel, the unit of every threshold (docs/physics-notes.md#noise-rms).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace spng {

/// Noise of each channel, (..., channel) in the unit and type of the waveforms.
struct ChannelNoise {
    at::Tensor low;    ///< x16, see robust_noise()
    at::Tensor median; ///< lower median over time
    at::Tensor rms;
};

/// Return the noise of each channel, robust against signals. The order statistics x16, x50 and x84 of the row
/// are the samples floor(p (tick - 1)) of the sorted row for p = 0.16, 0.50, 0.84, without interpolation.
/// They give a first
///     sigma = sqrt(((x84 - x50)^2 + (x50 - x16)^2) / 2).
/// The result is the RMS about x50 of the samples with |x - x50| <= cut sigma, divided by the same RMS of a
/// unit Gaussian,
///     sqrt(1 - 2 cut phi(cut) / erf(cut / sqrt 2)),  with the Gaussian density phi
/// (0.98658 for a cut of 3, 0.99999 for 5). A constant row gives 0.
/// @param waveforms  (..., channel, tick) float32 or float64, finite
/// @param cut        1 to 10; OmnibusSigProc (OSP) has 5; 3 is less sensitive to busy channels
/// @return zeros if there are no ticks
/// @throws Error(Internal) for another type or cut
/// One operator call: spng::robust_noise.
ChannelNoise robust_noise(const at::Tensor& waveforms, double cut = 5.0);

/// Channels with a part in the noise of their view, and the noise that replaces it.
struct ViewNoise {
    at::Tensor good;     ///< (view, channel) bool; undefined: all channels
    at::Tensor expected; ///< (view, channel), type of the RMS: predicted noise; undefined: unknown
};

/// Limit the noise of channels that are covered by a track along the drift for most of the readout. Otherwise
/// their RMS would hide the track. The RMS is limited to cap times the typical RMS, and the median to low + RMS.
/// The typical RMS is the lower median of the good channels of the view with an RMS above 0. If these are fewer than
/// min_measured_channels (view_statistics.h), it is the expected noise of the channel, if that is known. A view
/// without any of them has no limit.
/// @param noise  each (view, channel), of one real type
/// @throws Error(Internal) for other shapes or types
/// One operator call: spng::capped_noise.
ChannelNoise capped_noise(const ChannelNoise& noise, const ViewNoise& view, double cap);

/// Ranks of the order statistics of robust_noise: floor(p (ticks - 1)) for p = 0.16, 0.50, 0.84.
struct NoiseRanks {
    std::int64_t low, median, high;
    explicit NoiseRanks(std::int64_t ticks);
};

/// Return the RMS of a unit Gaussian without its tails beyond `cut`, the divisor of robust_noise.
double rms_of_cut_gaussian(double cut);

/// Return the unbiased standard deviation over time including signals, sqrt(sum (x - mean)^2 / (tick - 1)).
/// @return (..., channel); zeros if there are fewer than two ticks
/// @throws Error(Internal) for another type
/// One operator call: spng::plain_rms.
at::Tensor plain_rms(const at::Tensor& waveforms);

namespace kernels { // the bodies on CUDA: spng/kernels/noise.cxx. Sums of float32 carry their rounding error.
std::tuple<at::Tensor, at::Tensor, at::Tensor> robust_noise(const at::Tensor& waveforms, double cut);
std::tuple<at::Tensor, at::Tensor> capped_noise(const at::Tensor& low, const at::Tensor& median,
                                                const at::Tensor& rms, const std::optional<at::Tensor>& good,
                                                const std::optional<at::Tensor>& expected, double cap);
at::Tensor plain_rms(const at::Tensor& waveforms);
} // namespace kernels

} // namespace spng
