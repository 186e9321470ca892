// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bin point charges, spread by diffusion, across the wires and along time. The result is sparse: it holds
// only the ticks at which a row has charge. A slot is a position on the wire axis of a plane
// (readout_plane.h).

#include <cstdint>
#include <vector>

namespace spng {

/// Gaussian charges on the axes of a plane; all lists of equal length.
struct ChargeSpots {
    std::vector<double> wire;       ///< [slots]; an integer is the centre of the wire region of that slot
    std::vector<double> wire_sigma; ///< [slots]
    std::vector<double> tick;       ///< [ticks]; tick n is the interval [n, n + 1)
    std::vector<double> tick_sigma; ///< [ticks]
    std::vector<double> electrons;

    std::size_t size() const { return wire.size(); }
};

struct ChargeBinningConfig {
    std::int64_t bins = 10;  ///< intervals across a wire region
    bool interpolate = true; ///< true: rows are the edges of the intervals; false: the intervals
    double nsigma = 3;       ///< cut of the Gaussians [sigma], extended to the edges of the bins
    std::int64_t first_tick = 0;
    std::int64_t ticks = 0; ///< charge outside [first_tick, first_tick + ticks) is dropped

    std::int64_t rows() const { return interpolate ? bins + 1 : bins; }
};

/// Consecutive ticks of one row of a wire region.
struct ChargeRun {
    std::int32_t row;    ///< in the region
    std::int32_t tick;   ///< tick of the first value, counted from first_tick
    std::int32_t length; ///< number of values
    std::int32_t offset; ///< index of the first value in ChargeImage::electrons
};

/// Charge by wire region, row and tick.
struct ChargeImage {
    /// (slot + 1): the runs of slot s are runs[first_run[s]] to runs[first_run[s + 1] - 1]
    std::vector<std::int32_t> first_run;
    std::vector<ChargeRun> runs; ///< sorted by slot, row and tick
    std::vector<float> electrons;
};

/// Integrate each charge, a product of two Gaussians, over the bins. The cut Gaussians are normalised to the
/// number of electrons; charge in slots without a wire, or outside of the ticks, is dropped. With
/// `interpolate`, the charge of an interval is split between its two edges such that its mean position does
/// not change, as for a response that is linear between impact positions. A row holds the charge of its
/// region only, so the edge at +1/2 of a region and the edge at -1/2 of the next region are different rows.
/// The result does not depend on the number of threads.
/// @param exists  by slot: 1 if there is a wire, otherwise 0
ChargeImage bin_charge(const ChargeSpots& spots, const std::vector<char>& exists,
                       const ChargeBinningConfig& config);

} // namespace spng
