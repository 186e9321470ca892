// SPDX-License-Identifier: Apache-2.0
#pragma once
// Response of the simulation: digitised waveforms of one electron on the wires around it, by the impact
// position of the electron. The deconvolution averages this response over each wire region.

#include "spng/detector/field_response.h"
#include "spng/detector/response_kernel.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Responses at the impact positions of a wire region, including both edges: `bins` intervals have bins + 1
/// positions, -1/2, ..., +1/2 pitches from the centre of the region.
struct ImpactResponse {
    /// (region, position, tick) float64 [ADC per electron]: waveform of the wire of interest for one electron
    /// that starts `region - regions / 2` wires above it. At the first tick the electron leaves the response
    /// plane.
    at::Tensor kernel;
    std::int64_t bins = 0;
};

/// Compute the responses of a plane. The field response has paths on one side of each wire, -1/2 to 0 pitches
/// from it. The other side is the mirror image, R(w, p) = R(-w, -p); centres, which are on both sides, use
/// the mean. At the edge between two regions both keep their own response, because a path at the edge ends on
/// one wire or on the other. Electronics and sampling are as in response_kernel().
/// @throws Error(Configuration) unless all regions have the same equally spaced paths, including edge and
///         centre, and the numbers of regions on both sides are equal
ImpactResponse impact_response(const FieldResponse& field, int plane, const Electronics& electronics,
                               const ResponseKernelConfig& config);

} // namespace spng
