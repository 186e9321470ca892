#pragma once
// The current that one drifting electron induces on the wires, by the place where it starts: the field
// response.

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// Responses of one plane, by impact position.
struct PlaneResponse {
    int ident = 0;                       ///< 0 U, 1 V, 2 W
    double pitch = 0;                    ///< mm
    std::vector<double> pitch_positions; ///< mm across the wires from the centre of the wire of interest
    at::Tensor current;                  ///< (path, sample) float64: electron charges per ns for one electron
};

struct FieldResponse {
    std::string path;
    double origin = 0; ///< mm from the last plane where the paths start ("response plane")
    double speed = 0;  ///< mm/ns, drift at the response plane
    double period = 0; ///< ns between samples
    double start = 0;  ///< ns of the first sample; 0 is when the electron leaves the response plane
    std::vector<PlaneResponse> planes;

    /// Throws Error(Configuration) naming the planes that exist.
    const PlaneResponse& plane(int plane_ident) const;
};

/// Reads the Wire-Cell field response format {"FieldResponse": {planes: [...], origin, speed, period,
/// tstart}}, plain or compressed. A period within 1 % of a whole number of ns becomes that number (99.999 is
/// 100: the files count samples where they should count steps). Throws Error(Configuration) for an unreadable
/// file, missing keys, a plane without paths, paths of different length, or a pitch, period or speed that is
/// not positive.
FieldResponse load_field_response(const std::string& path);

} // namespace spng
