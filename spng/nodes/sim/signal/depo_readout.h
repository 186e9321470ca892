#pragma once
// From depositions at the response planes to charges on the axes of each wire plane: what the simulation of
// signals and the truth have in common.

#include "spng/core/field.h"
#include "spng/core/tensor_set.h"
#include "spng/detector/anode_plane.h"
#include "spng/nodes/sim/signal/charge_binning.h"
#include "spng/nodes/sim/signal/readout_plane.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct FacePlaceConfig {
    int face = 0;
    double x = 0;
    static constexpr auto fields() {
        using C = FacePlaceConfig;
        return std::make_tuple(
            field(&C::face, "face", "", at_least(0), "number of the face in the wire file"),
            field(&C::x, "x", "mm", Range{.required = true}, "where its response plane lies"));
    }
};

struct DepoReadoutConfig {
    std::string anode = "AnodePlane";
    std::vector<FacePlaceConfig> faces;
    double drift_speed = 0;
    double start = 0;
    double tick = 500;
    std::int64_t nticks = 6000;
    double nsigma = 3;
    static constexpr auto fields() {
        using C = DepoReadoutConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::faces, "faces", "", required(), "faces of the anode that charge drifts to"),
            field(&C::drift_speed, "drift_speed", "mm/ns",
                  Range{.low = 0, .low_is_open = true, .required = true},
                  "of the charge in the drift volume: turns its longitudinal spread into time"),
            field(&C::start, "start", "ns", any(),
                  "time of the first tick; charge is at its response plane then"),
            field(&C::tick, "tick", "ns", above(0), "sampling period"),
            field(&C::nticks, "nticks", "ticks", at_least(1), "length of the readout"),
            field(&C::nsigma, "nsigma", "1", above(0),
                  "charge is spread within so many standard deviations"));
    }
};

/// Depositions of one event as tensor "depo_data", float64 (7, deposition): t [ns], q [electrons; the sign is
/// a matter of the file and does not count], x, y, z [mm], sigma_L, sigma_T [mm].
class DepoReadout {
public:
    /// @param gap  places without a wire between two faces
    /// Throws Error(Configuration) for faces that the anode does not have.
    void prepare(const DepoReadoutConfig& config, const AnodePlane& anode, std::int64_t gap);

    const std::vector<int>& channels() const { return m_anode->channels(); }
    const std::vector<ReadoutPlane>& planes() const { return m_planes; }

    /// Charges of all faces on the axes of one plane. Depositions farther than 1 mm from every response
    /// plane, and those with a value that is not finite or a negative spread, are left out.
    ChargeSpots spots(const at::Tensor& depositions, const ReadoutPlane& plane) const;

    /// How many depositions spots() leaves out.
    std::int64_t left_out(const at::Tensor& depositions) const;

    /// The event of the frame that belongs to these depositions.
    std::shared_ptr<const EventInfo> event(const EventInfo& of_depositions) const;

    /// A tensor (channel, tick) of that frame.
    NamedTensor frame_tensor(std::string name, at::Tensor data, std::string unit) const;

private:
    const DepoReadoutConfig* m_config = nullptr;
    const AnodePlane* m_anode = nullptr;
    std::vector<ReadoutPlane> m_planes;
    std::shared_ptr<const ChannelTable> m_channels;
};

/// The tensor "depo_data" of a set. Throws Error(Input) unless it is there and float64 (7, n) on the host.
const at::Tensor& depositions_of(const TensorSet& set);

} // namespace spng
