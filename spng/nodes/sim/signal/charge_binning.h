#pragma once
// Point charges, spread by diffusion, on bins across the wires and along time. What is stored is sparse: the
// ticks at which each row has charge.

#include <cstdint>
#include <vector>

namespace spng {

/// Charges as Gaussians on the axes of a plane; all lists of equal length.
struct ChargeSpots {
    std::vector<double> wire;       ///< places; a whole number is the centre of that wire's region
    std::vector<double> wire_sigma; ///< places
    std::vector<double> tick;       ///< tick n is the interval [n, n + 1)
    std::vector<double> tick_sigma; ///< ticks
    std::vector<double> electrons;

    std::size_t size() const { return wire.size(); }
};

struct ChargeBinningConfig {
    std::int64_t bins = 10;  ///< intervals across a wire region
    bool interpolate = true; ///< rows are the edges of the intervals, not the intervals
    double nsigma = 3;       ///< a Gaussian ends at the outer edges of the bins within so many sigma
    std::int64_t first_tick = 0;
    std::int64_t ticks = 0; ///< charge outside [first_tick, first_tick + ticks) is dropped

    std::int64_t rows() const { return interpolate ? bins + 1 : bins; }
};

/// Consecutive ticks of one row of a wire region.
struct ChargeRun {
    std::int32_t row;  ///< in the region
    std::int32_t tick; ///< of the first value, from first_tick
    std::int32_t length;
    std::int32_t offset; ///< of the first value
};

/// Charge by wire region, row and tick.
struct ChargeImage {
    std::vector<std::int32_t> first_run; ///< (place + 1): runs of a place are runs[first_run[place]] and on
    std::vector<ChargeRun> runs;         ///< by place, row and tick
    std::vector<float> electrons;
};

/// Each charge is the product of two Gaussians, integrated over the bins. With its cut the sum is still that
/// of the electrons, except what lies where there is no wire or no tick. With `interpolate` the charge of an
/// interval goes to its two edges such that its mean position stays: what a response that is linear between
/// impact positions asks for. A row of a region has the charge of that region only, so that its edge at +1/2
/// and the edge at -1/2 of the next region are different rows.
/// The result does not depend on the number of threads.
/// @param exists  by place: whether there is a wire
ChargeImage bin_charge(const ChargeSpots& spots, const std::vector<char>& exists,
                       const ChargeBinningConfig& config);

} // namespace spng
