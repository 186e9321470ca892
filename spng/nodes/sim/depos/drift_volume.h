// SPDX-License-Identifier: Apache-2.0
#pragma once
// Volumes from which charge drifts to the faces of an anode.

#include "spng/core/field.h"
#include "spng/detector/wires.h"

#include <string>
#include <vector>

namespace spng {

/// Planes of constant x. Charge drifts from the cathode to the anode.
struct DriftVolumeConfig {
    int face = 0;
    double anode = 0;
    double response = 0;
    double cathode = 0;
    static constexpr auto fields() {
        using C = DriftVolumeConfig;
        return std::make_tuple(
            field(&C::face, "face", "", at_least(0), "ident of the face in the wire file"),
            field(&C::anode, "anode", "mm", required(), "x of the first wires; nothing is simulated beyond"),
            field(&C::response, "response", "mm", required(),
                  "x of the response plane, where the paths of the field response start"),
            field(&C::cathode, "cathode", "mm", required(), "x of the cathode"));
    }
};

struct DriftVolume {
    int face = 0;
    double anode = 0;    ///< mm
    double response = 0; ///< mm
    double cathode = 0;  ///< mm
    Point2 low;          ///< lower corner of the area of the wires of the face [mm]
    Point2 high;         ///< upper corner [mm]

    /// +1 if the cathode is at larger x than the wires, otherwise -1.
    double side() const { return cathode > response ? 1 : -1; }
};

/// Return the volumes with the extent of their wires.
/// @param where  component and key, for error messages
/// @throws Error(Configuration) if a face does not exist or occurs twice, or if a response plane is not
///         between anode and cathode
std::vector<DriftVolume> make_drift_volumes(const WireAnode& anode,
                                            const std::vector<DriftVolumeConfig>& volumes,
                                            const std::string& where);

} // namespace spng
