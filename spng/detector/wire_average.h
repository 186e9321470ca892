#pragma once
// Average of the field response over the width of each wire region: the response to charge spread evenly.

#include "spng/detector/field_response.h"

#include <ATen/core/Tensor.h>

namespace spng {

enum class AverageMode {
    rounded, ///< impact positions closer than a thousandth of the pitch are one
    /// positions truncated to a hundredth of the pitch, as existing programs do: that splits some positions
    /// in two and costs 0.5 % of the collected charge (../shared/docs/spng.md 5.1, D5)
    compat
};

/// -> (wire, sample) float64, electron charges per ns for one electron; wires from the most negative to the
/// most positive region, an odd number, the wire of interest in the middle row.
///
/// Formula (../shared/docs/spng.md 5.1): the response at position p also holds at -p, the mean where both
/// were calculated; a position owns the interval up to half-way to its neighbours, the outermost up to
/// infinity; region w is [w - 1/2, w + 1/2] pitches, and its average is sum_p R_p |interval_p intersected
/// with region w| / pitch.
at::Tensor average_over_wires(const PlaneResponse& plane, AverageMode mode = AverageMode::rounded);

} // namespace spng
