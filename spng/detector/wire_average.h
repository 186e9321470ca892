// SPDX-License-Identifier: Apache-2.0
#pragma once
// Average of the field response over the width of each wire region: the response to evenly spread charge.

#include "spng/detector/field_response.h"

#include <ATen/core/Tensor.h>

namespace spng {

enum class AverageMode {
    rounded, ///< impact positions closer than a thousandth of the pitch are merged
    /// positions are truncated to a hundredth of the pitch, as in the Wire-Cell Toolkit: this splits some
    /// positions in two and costs 0.5 % of the collected charge (docs/physics-notes.md#field-response)
    compat
};

/// Compute the average over each wire region (docs/physics-notes.md#field-response).
///
/// The response at position p is also used at -p; if both were calculated, their mean is used. A position
/// covers the interval up to half-way to its neighbours, the outermost positions up to infinity. Region w is
/// [w - 1/2, w + 1/2] pitches. Its average is sum_p R_p |interval_p intersected with region w| / pitch.
/// @return (wire, sample) float64, for one electron [electron charges / ns]. The count of wires is odd; they
/// go from the most negative to the most positive region, with the central wire in the middle row.
at::Tensor average_over_wires(const PlaneResponse& plane, AverageMode mode = AverageMode::rounded);

} // namespace spng
