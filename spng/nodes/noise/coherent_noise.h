// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remove the noise that the channels of one front-end board share, and protect signals
// (docs/physics-notes.md#coherent-noise).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Rule that excludes signals and unusual channels from the estimate of the shared noise.
struct CoherentNoiseRule {
    /// A channel carries signal where its deviation from the group's median exceeds this [sigma].
    double threshold = 4;
    /// All channels of a group carry signal where the group's median exceeds this [sigma of the median].
    double common_threshold = 5;
    /// Both tests are repeated on running means over 2 n + 1 ticks; 0: no.
    std::int64_t half_smoothing = 8;
    /// Ticks on both sides of a signal that are excluded too.
    std::int64_t padding = 10;
    /// Minimum share of a group's members without signal for an estimate.
    double min_fraction = 0.25;
    /// A channel with more noise than this takes no part in the estimate [lower median of the group].
    double max_noise = 3;
};

/// Maximum working memory of remove_coherent_noise() on a device, in results. The CPU takes a third of it.
inline constexpr std::int64_t coherent_noise_buffers = 3;

/// Subtract from each channel the mean of the OTHER members of its group that carry no signal at that tick.
///
/// Let d = x - median_t x, and sigma(v) half the distance between the 16 % and 84 % order statistics of every fourth
/// sample of v. Quiet channels are the good ones with 0 < sigma(d) <= max_noise m, where m is the lower median of sigma(d)
/// over the good channels with sigma(d) > 0. Let c(t) be the lower median of d over the quiet channels of a group.
/// - A channel carries signal where |v| > threshold sigma(v) for v = d - c or for the running mean of v.
/// - All channels of the group carry signal where |v| > common_threshold sigma(v) for v = c, its running mean, and c
///   minus its running mean over 4 n + 1 ticks, in which a fast pulse is above slow shared noise. A track that reaches all
///   wires of a group at once looks like shared noise; only its size and its shape tell it apart. sigma(v) is at least half
///   a count, except for the running mean, because medians of counts are whole numbers.
/// - Signals are widened by the padding.
/// - The coupling of a channel is b = sum d c / sum c^2 over its ticks without signal, within 0 and 2, if the wave explains
///   more than a fifth of the variance that its subtraction leaves, |1 - b| sigma(c) > sqrt(0.2) sigma(d - c). All other
///   channels have the coupling 1, except constant ones, which have 0.
/// - Members are the quiet channels with the coupling 1 and with sigma(d - c) of at most max_noise times its lower median
///   over the quiet channels. The mean is multiplied by the coupling of the channel from which it is subtracted.
/// - Bad ticks of a channel are in none of its sigmas and count as ticks with signal.
/// - Where fewer than max(2, min_fraction * members) are left, the estimate is interpolated linearly in time, held constant
///   before the first and after the last estimate, and 0 if there is none.
///
/// The channel itself is left out of the mean, because the mean over all n channels would remove 1/n of a
/// signal below the thresholds.
/// @param waveforms  (..., channel, tick) int16, float32 or float64; finite where good
/// @param good       (..., channel) bool: the other channels do not contribute and are not changed
/// @param groups     (group, member) int64 on the device of `waveforms`: indices of rows of `waveforms`, with
///                   all axes but the last flattened; each row once
/// @param bad_ticks  (..., channel, range, 2) int32: begin and end tick of straight lines that earlier steps have put into
///                   the waveforms; equal for no range; undefined: none
/// @return shape of `waveforms`, float64 for float64 and float32 otherwise; the baseline of a channel is kept
/// @throws Error(Internal) for other shapes or types
/// One operator call: spng::remove_coherent_noise.
at::Tensor remove_coherent_noise(const at::Tensor& waveforms, const at::Tensor& good,
                                 const at::Tensor& groups, const CoherentNoiseRule& rule = {},
                                 const at::Tensor& bad_ticks = {});

/// The body on devices, of ATen operations, which do not wait.
at::Tensor remove_coherent_noise_composite(const at::Tensor& waveforms, const at::Tensor& good,
                                           const at::Tensor& groups, const at::Tensor& bad_ticks,
                                           double threshold, double common_threshold,
                                           std::int64_t half_smoothing, std::int64_t padding,
                                           double min_fraction, double max_noise);

} // namespace spng
