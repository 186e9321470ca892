#pragma once
// Level, noise and large pulses of one channel: the measurements behind the input check.

#include <cstdint>
#include <vector>

namespace spng {

struct ChannelLevel {
    double median = 0;
    double rms = 0; ///< from the quartiles of what is within 4 RMS, so that pulses hardly count
};

/// Quartiles are interpolated between the middles of equal samples, so that integer samples give an RMS finer
/// than one count. At most 2048 samples, evenly spread, are looked at; no samples give zeros.
template <class T>
ChannelLevel channel_level(const T* samples, std::int64_t ticks);

/// A run of samples beyond 3 sigma, gaps of up to 8 ticks included.
struct Pulse {
    /// (P - N) / (P + N), where P and N are the sums of its samples above and below the median, 3 sigma and
    /// more away from it: 1 for collected charge, near 0 for induced charge.
    double polarity = 0;
    /// Ticks from the highest to the lowest sample; 0 unless both are 5 sigma away from the median.
    std::int64_t lobe_distance = 0;
    /// Samples around the largest one [sigma], for a short pulse that stands alone; else empty.
    std::vector<float> shape;
};

/// Length of Pulse::shape, and the position of the pulse's largest sample in it.
inline constexpr std::int64_t shape_ticks = 24;
inline constexpr std::int64_t shape_peak = 10;

/// The pulses of a channel that reach 15 sigma, the first 16 of them: a channel that oscillates must not
/// outvote others. Pulses within 40 ticks of an end of the readout are left out, since they may be cut. A
/// shape is kept of pulses that reach 20 sigma, are at most 36 ticks long and 30 ticks away from others.
/// @param sigma  unit of the thresholds, above 0; the channel's RMS unless that is too small
template <class T>
std::vector<Pulse> find_pulses(const T* samples, std::int64_t ticks, double median, double sigma);

} // namespace spng
