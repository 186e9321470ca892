#pragma once
// The volumes from which charge drifts to the faces of an anode.

#include "spng/core/field.h"
#include "spng/detector/wires.h"

#include <string>
#include <vector>

namespace spng {

/// Planes of constant x; charge drifts from the cathode towards the anode.
struct DriftVolumeConfig {
    int face = 0;
    double anode = 0;
    double response = 0;
    double cathode = 0;
    static constexpr auto fields() {
        using C = DriftVolumeConfig;
        return std::make_tuple(
            field(&C::face, "face", "", at_least(0), "face of the anode, its number in the wire file"),
            field(&C::anode, "anode", "mm", Range{.required = true},
                  "x of the first wires: nothing is simulated beyond"),
            field(&C::response, "response", "mm", Range{.required = true},
                  "x where the paths of the field response start"),
            field(&C::cathode, "cathode", "mm", Range{.required = true}, "x of the cathode"));
    }
};

struct DriftVolume {
    int face = 0;
    double anode = 0;    ///< mm
    double response = 0; ///< mm
    double cathode = 0;  ///< mm
    Point2 low;          ///< mm, the corners of what the wires of the face cover
    Point2 high;

    /// +1 where the cathode lies at larger x than the wires.
    double side() const { return cathode > response ? 1 : -1; }
};

/// The volumes with the extent of their wires.
/// @param where  for messages
/// Throws Error(Configuration) for a face that does not exist or occurs twice,
/// and a response plane that does not lie between anode and cathode.
std::vector<DriftVolume> make_drift_volumes(const WireAnode& anode,
                                            const std::vector<DriftVolumeConfig>& volumes,
                                            const std::string& where);

} // namespace spng
