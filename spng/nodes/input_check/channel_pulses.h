// SPDX-License-Identifier: Apache-2.0
#pragma once
// Measurements of the input check: baseline, noise and large pulses of one channel.

#include <array>
#include <cstdint>
#include <vector>

namespace spng {

struct ChannelLevel {
    double median = 0;
    double rms = 0; ///< from the quartiles of the samples within 4 RMS, so that pulses hardly contribute
};

/// Measure median and RMS of a channel from at most `max_samples` evenly spaced samples. Quartiles are interpolated
/// between the middle ranks of equal samples, so that integer samples give an RMS finer than one count.
/// Return zeros if there is no sample.
template <class T>
ChannelLevel channel_level(const T* samples, std::int64_t ticks, std::int64_t max_samples = 2048);

/// Length of Pulse::shape, and the position of the pulse's largest sample in it.
inline constexpr std::int64_t shape_ticks = 24;
inline constexpr std::int64_t shape_peak = 10;

/// Mean product of two samples [sigma^2] by their distance in ticks.
using Autocorrelation = std::array<double, shape_ticks>;

/// Autocorrelation of noise, from stretches without pulses.
struct NoiseProducts {
    Autocorrelation sum{};
    std::uint64_t stretches = 0;

    NoiseProducts& operator+=(const NoiseProducts& other);
    /// Return the products relative to the first one; zeros if there is no noise.
    Autocorrelation autocorrelation() const;
};

/// Run of samples beyond 3 sigma, including gaps of up to 8 ticks.
struct Pulse {
    /// (P - N) / (P + N), with the sums P and N of the magnitudes of the samples more than 3 sigma above and
    /// below the median: 1 for collected charge, near 0 for induced charge.
    double polarity = 0;
    /// Ticks from the highest to the lowest sample; 0 unless both are more than 5 sigma away from the median.
    std::int64_t lobe_distance = 0;
    /// Samples around the largest one [sigma], for a short isolated pulse; otherwise empty.
    std::vector<float> shape;
};

/// Find the first 16 pulses of a channel that reach 15 sigma; the limit keeps an oscillating channel from
/// outvoting the others. Pulses within 40 ticks of an end of the readout are skipped, because they may be cut
/// off. Pulse::shape is filled for pulses that reach 20 sigma, are at most 36 ticks long and at least 30
/// ticks away from other pulses.
/// @param sigma  unit of the thresholds, above 0; the channel's RMS unless that is too small
template <class T>
std::vector<Pulse> find_pulses(const T* samples, std::int64_t ticks, double median, double sigma);

/// Compute the products of at most 8 stretches of 64 ticks of a channel in which no sample exceeds 4.5 sigma.
template <class T>
NoiseProducts noise_products(const T* samples, std::int64_t ticks, double median, double sigma);

} // namespace spng
