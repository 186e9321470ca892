// SPDX-License-Identifier: Apache-2.0
#pragma once
// Field response: the current that one drifting electron induces on the wires, by its starting position.

#include "spng/io/data_file.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// Responses of one plane, by impact position.
struct PlaneResponse {
    int ident = 0;                       ///< 0 U, 1 V, 2 W
    double pitch = 0;                    ///< [mm]
    std::vector<double> pitch_positions; ///< of each path, across the wires from the central wire [mm]
    at::Tensor current;                  ///< (path, sample) float64, for one electron [electron charges / ns]
};

struct FieldResponse {
    std::string path;
    double origin = 0; ///< distance of the starts of the paths ("response plane") from the last plane [mm]
    double speed = 0;  ///< drift speed at the response plane [mm/ns]
    double period = 0; ///< sampling period [ns]
    double start = 0;  ///< time of the first sample, from when the electron leaves the response plane [ns]
    std::vector<PlaneResponse> planes;

    /// Return the response of a plane.
    /// @throws Error(Configuration) if there is none; names the existing planes
    const PlaneResponse& plane(int plane_ident) const;
};

/// Read a field response in the format of the Wire-Cell Toolkit, plain or compressed: {"FieldResponse":
/// {planes: [...], origin, speed, period, tstart}}. A period within 1 % of an integer [ns] is rounded to it:
/// 99.999 becomes 100, since the files divide by the count of samples instead of steps. A path without any current was not
/// computed: it gets the current of the nearest path that has some (docs/physics-notes.md#field-response).
/// @throws Error(Configuration) for an unreadable file, a missing key, a plane without paths, paths of
/// different lengths or beyond 2 ms, and values that no detector has, such as a path farther than 60 pitches from
/// the wire
FieldResponse load_field_response(const std::string& path);

/// Return the same, from the user's cache if the content is known there.
FieldResponse load_field_response(const DataFile& file);

} // namespace spng
