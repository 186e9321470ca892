// SPDX-License-Identifier: Apache-2.0
#pragma once
// Remove lines of constant frequency, such as harmonics of power supplies and clocks
// (docs/physics-notes.md#harmonic-lines).

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Frequencies that are removed from all channels.
struct FrequencyBand {
    double low = 0, high = 0; ///< both included [1/ns]
};

struct HarmonicLineRule {
    /// A channel has a line where its amplitude exceeds this, in medians of the nearby frequencies.
    double threshold = 6;
    /// All channels of a view have a line where their mean amplitude exceeds this, in medians over frequency.
    double common_threshold = 1.5;
    /// Lower limit of the frequencies in which lines are searched [1/ns].
    double min_frequency = 10e-6;
    /// Maximum number of lines of a channel, and of common lines of a view; the largest are taken.
    std::int64_t max_lines = 16;
    /// Ticks beyond this do not contribute to the spectra [sigma].
    double signal_threshold = 4;
    std::vector<FrequencyBand> bands{}; ///< set to zero
};

/// Working memory of remove_harmonic_lines(), in waveforms of one view.
inline constexpr std::int64_t harmonic_line_buffers = 3;

/// Subtract sinusoids of constant amplitude.
///
/// Let d be x minus the median of every 16th sample. Blocks of 16 ticks are signal, with both neighbours, where a
/// sample of d or the mean of the block exceeds signal_threshold sigma. For samples sigma is sqrt(pi / 2) times the
/// median over blocks of 64 ticks of the mean deviation from the mean of the block, which even a track along the
/// drift leaves alone; for means it is half the distance between their 16 % and 84 % order statistics. Let q be d
/// without these blocks, and H its spectrum with twice a Hann window,
///     H(k) = Q(k) - (Q(k - 1) + Q(k + 1)) / 2,   Q = rfft(q).
/// The ratio r divides |H| by its median over blocks of 32 frequencies, interpolated linearly between their
/// centres. Tracks are not lines: they are cut out as signals, and a pulse raises all nearby frequencies.
/// - All channels of a view have a line at k if the mean over its n good channels of min(r, 5) exceeds its median
///   over k by max(common_threshold, 1 + 3.14 / sqrt(n)), the latter 6 standard deviations of noise, and the mean
///   of r^2 is the largest within 4 frequencies.
/// - A channel has a line at k if r exceeds `threshold` and is the largest within 4 frequencies, and no line of
///   the view is there.
///
/// The line has the frequency k + e with e = -+(2 b - 1) / (b + 1), where b is the amplitude of the larger
/// neighbour over that of k: for the Hann window this is exact. Amplitudes are r; for a line of the view the root
/// of the excess of the mean of r^2 over its median. Subtracted is the real part of
///     2 / n H(k) (1 - e^2) / sinc(e) / w exp(i pi (2 (k + e) t - e (n - 1)) / n)   of n ticks,
/// with the share w of the Hann window without signals, at least 0.1.
///
/// Bad ticks are left out as blocks of signal are.
/// Rows without a line are returned as they are. The host does not wait for the device.
/// @param waveforms  (view, channel, tick) int16, float32 or float64; finite where good
/// @param good       (view, channel) bool: the other channels do not contribute and are not changed
/// @param tick       sampling period [ns]
/// @param bad_ticks  (view, channel, range, 2) int32: begin and end tick of straight lines that earlier steps have put into
///                   the waveforms; equal for no range; undefined: none
/// @return shape of `waveforms`, float64 for float64 and float32 otherwise; baselines are kept
/// @throws Error(Internal) for other shapes or types
at::Tensor remove_harmonic_lines(const at::Tensor& waveforms, const at::Tensor& good, double tick,
                                 const HarmonicLineRule& rule = {}, const at::Tensor& bad_ticks = {});

} // namespace spng
