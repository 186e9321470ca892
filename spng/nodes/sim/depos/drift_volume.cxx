// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/drift_volume.h"

#include "spng/core/error.h"

#include <algorithm>

namespace spng {
namespace {

DriftVolume volume_from(const WireFace& face, const DriftVolumeConfig& config) {
    const WireArea area = area_of(face);
    return {.face = config.face,
            .anode = config.anode,
            .response = config.response,
            .cathode = config.cathode,
            .low = area.low,
            .high = area.high};
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
