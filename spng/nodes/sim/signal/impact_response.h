#pragma once
// Digitised waveforms that one electron leaves on the wires around it, by the place where it starts: the
// response of the simulation, which resolves what the deconvolution averages over each wire region.

#include "spng/detector/field_response.h"
#include "spng/detector/response_kernel.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Responses at the impact positions of a wire region, both of its edges included: with `bins` intervals
/// there are bins + 1 positions, -1/2, ..., +1/2 pitches from the centre of the region.
struct ImpactResponse {
    /// (region, position, tick) float64 [ADC per electron]: the waveform of the wire of interest for one
    /// electron that starts in the region `region - regions / 2` wires above it; first tick when the electron
    /// leaves the response plane.
    at::Tensor kernel;
    std::int64_t bins = 0;
};

/// The field response gives paths on one side of each wire, -1/2 to 0 pitches from it; the other side is the
/// mirror image, R(w, p) = R(-w, -p), the mean where both were calculated (the centres). The two regions that
/// meet at an edge keep responses of their own there: a path at the edge ends on one wire or on the other.
/// Then electronics and sampling as response_kernel(). Throws Error(Configuration) unless the paths lie at
/// equal distances, the same in every region, edge and centre included, and the regions are as many on both
/// sides.
ImpactResponse impact_response(const FieldResponse& field, int plane, const ColdElectronics& electronics,
                               const ResponseKernelConfig& config);

} // namespace spng
