// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/drift_volume.h"

#include "spng/core/error.h"

#include <algorithm>
#include <limits>

namespace spng {
namespace {

void cover(DriftVolume& volume, Point2 point) {
    volume.low = {std::min(volume.low.y, point.y), std::min(volume.low.z, point.z)};
    volume.high = {std::max(volume.high.y, point.y), std::max(volume.high.z, point.z)};
}

DriftVolume volume_from(const WireFace& face, const DriftVolumeConfig& config) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    DriftVolume volume{.face = config.face,
                       .anode = config.anode,
                       .response = config.response,
                       .cathode = config.cathode,
                       .low = {infinity, infinity},
                       .high = {-infinity, -infinity}};
    for (const WirePlane& plane : face.planes) {
        for (const Wire& wire : plane.wires) {
            cover(volume, wire.tail);
            cover(volume, wire.head);
        }
    }
    return volume;
}

[[noreturn]] void reject(const std::string& where, const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "impossible drift volumes",
                                           .where = where,
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = "compare with drift_volumes in cfg/detectors"});
}

} // namespace

std::vector<DriftVolume> make_drift_volumes(const WireAnode& anode,
                                            const std::vector<DriftVolumeConfig>& volumes,
                                            const std::string& where) {
    std::vector<DriftVolume> result;
    for (const DriftVolumeConfig& config : volumes) {
        if (std::any_of(result.begin(), result.end(),
                        [&](const DriftVolume& other) { return other.face == config.face; })) {
            reject(where, "face " + std::to_string(config.face) + " twice", "each face once");
        }
        const double to_anode = config.anode - config.response, to_cathode = config.cathode - config.response;
        if (!(to_anode * to_cathode <= 0) || to_cathode == 0) {
            reject(where,
                   "anode " + std::to_string(config.anode) + ", response " + std::to_string(config.response) +
                       ", cathode " + std::to_string(config.cathode) + " mm",
                   "the response plane between anode and cathode");
        }
        result.push_back(volume_from(anode.face(config.face), config));
    }
    return result;
}

} // namespace spng
