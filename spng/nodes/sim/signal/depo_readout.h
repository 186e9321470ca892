// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversion of depositions at the response planes to charges on the axes of each wire plane, for the
// simulation of signals and for the truth.

#include "spng/core/field.h"
#include "spng/core/tensor_set.h"
#include "spng/detector/anode_plane.h"
#include "spng/nodes/sim/signal/charge_binning.h"
#include "spng/nodes/sim/signal/readout_plane.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct ResponsePlaneConfig {
    int face = 0;
    double x = 0;
    static constexpr auto fields() {
        using C = ResponsePlaneConfig;
        return std::make_tuple(field(&C::face, "face", "", at_least(0), "ident of the face in the wire file"),
                               field(&C::x, "x", "mm", required(), "x of its response plane"));
    }
};

struct DepoReadoutConfig {
    std::string anode = "AnodePlane";
    std::vector<ResponsePlaneConfig> faces;
    double drift_speed = 0;
    double start = 0;
    double tick = 500;
    std::int64_t nticks = 6000;
    double nsigma = 3;
    static constexpr auto fields() {
        using C = DepoReadoutConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::faces, "faces", "", required(), "faces of the anode to which charge drifts"),
            field(&C::drift_speed, "drift_speed", "mm/ns", required(above(0)),
                  "drift speed of the charge, to convert its longitudinal spread to time"),
            field(&C::start, "start", "ns", any(),
                  "time of the first tick, when its charge is at the response plane"),
            field(&C::tick, "tick", "ns", above(0), "sampling period"),
            field(&C::nticks, "nticks", "ticks", at_least(1), "length of the readout"),
            field(&C::nsigma, "nsigma", "1", above(0),
                  "cut of the Gaussian spread of the charge, in standard deviations"));
    }
};

/// A face to which charge drifts: x of its response plane [mm], and the area of its wires.
struct FaceAt {
    double x = 0;
    WireArea area;
};

/// Readout of the depositions of one event: tensor "depo_data", float64 (7, deposition), with t [ns], q
/// [electrons; the sign is ignored], x, y, z [mm], sigma_L, sigma_T [mm].
class DepoReadout {
public:
    /// @param gap  slots without a wire between two faces
    /// @throws Error(Configuration) for faces that the anode does not have
    void prepare(const DepoReadoutConfig& config, const AnodePlane& anode, std::int64_t gap);

    const std::vector<int>& channels() const { return m_anode->channels(); }
    const std::vector<ReadoutPlane>& planes() const { return m_planes; }

    /// Return the charges of all faces on the axes of one plane. Of faces with the same response plane, charge is read by the
    /// nearest. Depositions farther than 1 mm from every
    /// response plane, with a value that is not finite, or with a negative spread are dropped.
    ChargeSpots spots(const at::Tensor& depositions, const ReadoutPlane& plane) const;

    /// Return the number of depositions that spots() drops.
    std::int64_t count_dropped(const at::Tensor& depositions) const;

    /// Return the event of the frame for an event of depositions.
    std::shared_ptr<const EventInfo> event(const EventInfo& of_depositions) const;

    /// Make a tensor (channel, tick) of the frame.
    NamedTensor frame_tensor(std::string name, at::Tensor data, std::string unit) const;

private:
    const DepoReadoutConfig* m_config = nullptr;
    const AnodePlane* m_anode = nullptr;
    std::vector<ReadoutPlane> m_planes;
    std::vector<FaceAt> m_faces;
    std::shared_ptr<const ChannelTable> m_channels;
};

/// Return the tensor "depo_data" of a set.
/// @throws Error(Input) if it is missing or not float64 (7, n) on the host
const at::Tensor& depositions_of(const TensorSet& set);

} // namespace spng
