#pragma once
// Removal of noise that the channels of one front-end board share, with protection of signals.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// How signals are kept out of the estimate of the shared noise.
struct CoherentNoiseRule {
    double threshold = 4;        ///< a channel's deviation from its group is signal beyond this many sigma
    double common_threshold = 5; ///< the group's median is signal, not noise, beyond this many of its sigma
    std::int64_t half_smoothing = 8; ///< both are also tried on running means of 2 n + 1 ticks
    std::int64_t padding = 10;       ///< ticks on both sides of a signal that are not trusted either
    double min_fraction = 0.25;      ///< least share of a group's good channels that an estimate needs
};

/// Subtract from each channel the mean of the OTHER channels of its group, over those that carry no signal.
///
/// With d = x - median_t x, c(t) the lower median of d over the good channels of a group, and sigma(v) half
/// the distance of the order statistics 16 % and 84 % of every fourth sample of v, a channel carries signal
/// where, for v = d - c or its running mean, |v| > threshold sigma(v), and all channels of the group do where
/// the same holds for v = c with the common threshold: a track that reaches all wires of a group at once
/// looks like noise of the group and is told from it by its size alone. Signals are widened by the padding.
/// Where fewer than max(2, min_fraction good) channels are left, the estimate is interpolated linearly in
/// time between its neighbours (constant beyond the first and the last, zero when there is none). Leaving out
/// the channel itself keeps what stays below the thresholds from being subtracted from itself: the mean over
/// all n channels would take 1/n of it.
/// @param waveforms  int16, float32 or float64 (..., channel, tick); finite where good
/// @param good       bool (..., channel): others take no part and come out as they are
/// @param groups     int64 (group, member), on the device of waveforms: indices of the rows of waveforms, all
/// axes
///                   but the last flattened; each row once
/// @return like waveforms, float64 for float64 and float32 otherwise; the baseline of a channel is kept
/// Throws Error(Internal) for other shapes or types. One operator call: spng::remove_coherent_noise.
at::Tensor remove_coherent_noise(const at::Tensor& waveforms, const at::Tensor& good,
                                 const at::Tensor& groups, const CoherentNoiseRule& rule = {});

} // namespace spng
