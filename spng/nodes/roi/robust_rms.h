#pragma once
// Noise level of a channel, the unit of every threshold (spng.md 5.7, 7).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Zero and unit of a channel's noise, each (..., channel), in the unit and type of the waveforms.
struct ChannelNoise {
    at::Tensor low;    ///< x16 below
    at::Tensor median; ///< lower median over time
    at::Tensor rms;
};

/// Noise that signals hardly move. From the order statistics x16, x50, x84 of the row - sample floor(p (tick
/// - 1)) of the sorted row for p = 0.16, 0.50, 0.84, without interpolation - comes a first
///     sigma = sqrt(((x84 - x50)^2 + (x50 - x16)^2) / 2);
/// the result is the RMS about x50 of the samples with |x - x50| <= cut sigma, over what that RMS is for a
/// unit Gaussian,
///     sqrt(1 - 2 cut phi(cut) / erf(cut / sqrt 2)),  phi the Gaussian density
/// (0.98658 at a cut of 3, 0.99999 at 5). A constant row gives 0.
/// @param waveforms  float32 or float64 (..., channel, tick), finite
/// @param cut        1 to 10; 5 is the traditional chain's, 3 is moved less by busy channels
/// @return zeros when there are no ticks
/// Throws Error(Internal) for another type or cut. One operator call: spng::robust_noise.
ChannelNoise robust_noise(const at::Tensor& waveforms, double cut = 5.0);

/// Which samples of a sorted row robust_noise takes: floor(p (ticks - 1)) for p = 0.16, 0.50, 0.84.
struct NoiseRanks {
    std::int64_t low, median, high;
    explicit NoiseRanks(std::int64_t ticks);
};

/// RMS of a unit Gaussian whose tails beyond `cut` are gone, by which robust_noise divides.
double rms_of_cut_gaussian(double cut);

/// Unbiased standard deviation over time, signals included: sqrt(sum (x - mean)^2 / (tick - 1)), (...,
/// channel). Zeros when there are fewer than two ticks. Throws Error(Internal) for another type. One operator
/// call: spng::plain_rms.
at::Tensor plain_rms(const at::Tensor& waveforms);

} // namespace spng
