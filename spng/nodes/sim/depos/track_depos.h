// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGTrackDepos: generate events with random tracks, muons, blips, or the lines of a line scan.

#include "spng/graph/node.h"
#include "spng/nodes/sim/depos/depositions.h"
#include "spng/nodes/sim/depos/line_scan.h"
#include "spng/nodes/sim/depos/muon_tracks.h"
#include "spng/nodes/sim/depos/straight_tracks.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace spng {

class AnodePlane;

struct BlipConfig {
    double low_energy = 0.2;
    double high_energy = 5;
    double dedx = 0.25;
    static constexpr auto fields() {
        using C = BlipConfig;
        return std::make_tuple(field(&C::low_energy, "low_energy", "MeV", above(0),
                                     "lowest energy; the logarithm of the energy is uniform"),
                               field(&C::high_energy, "high_energy", "MeV", above(0), "highest energy"),
                               field(&C::dedx, "dedx", "MeV/mm", above(0),
                                     "mean energy loss of the electron of a blip, for its recombination"));
    }
};

struct TrackDeposConfig {
    std::string anode = "AnodePlane";
    std::vector<DriftVolumeConfig> volumes;
    std::string kind = "tracks";
    int count = 10;
    int nevents = 1;
    std::int64_t seed = 1;
    double step = 0.5;
    double earliest = 0;
    double latest = 0;
    double margin = 15;
    double shortest = 300;
    double electric_field = 5e-5;
    ChargeLineConfig charge;
    LineScanConfig line;
    MuonConfig muon;
    BlipConfig blip;
    static constexpr auto fields() {
        using C = TrackDeposConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::volumes, "volumes", "", required(), "drift volumes of its faces"),
            field(
                &C::kind, "kind", "", one_of("tracks", "muons", "blips", "line", "none"),
                "tracks: isotropic straight lines of charge; muons: tracks with energy loss and scattering; "
                "blips: points; line: lines of the line scan; none: empty events"),
            field(&C::count, "count", "", at_least(0), "tracks, muons or blips per event"),
            field(&C::nevents, "nevents", "events", at_least(0), "number of events"),
            field(&C::seed, "seed", "", at_least(0), "seed of the random numbers"),
            field(&C::step, "step", "mm", above(0), "distance between the depositions of a track"),
            field(&C::earliest, "earliest", "ns", any(), "lower limit of the random start time of tracks"),
            field(&C::latest, "latest", "ns", any(), "upper limit of the random start time of tracks"),
            field(&C::margin, "margin", "mm", at_least(0),
                  "minimum distance of tracks and blips from the borders of the drift volume"),
            field(&C::shortest, "shortest", "mm", at_least(0), "minimum length of a track"),
            field(&C::electric_field, "electric_field", "MV/mm", above(0),
                  "electric field, for the recombination of muons and blips"),
            field(&C::charge, "charge", "", any(), "settings of kinds tracks and line"),
            field(&C::line, "line", "", any(), "settings of kind line; the lines are in the first volume"),
            field(&C::muon, "muon", "", any(), "settings of kind muons"),
            field(&C::blip, "blip", "", any(), "settings of kind blips"));
    }
};

/// Out: depositions in order of time. id is the index of the track, blip or line; pdg is 13 for muons, 11 for
/// blips, otherwise 0. With several volumes, a track is in each with a probability proportional to its size.
/// Random numbers depend on the seed and the event's index in the job only, not on the number of threads.
class TrackDepos : public NodeWith<TrackDeposConfig> {
public:
    std::optional<double> share_done() const override {
        return static_cast<double>(m_events) / std::max(1, config().nevents);
    }
    bool at_end() const override { return m_events >= static_cast<std::uint64_t>(config().nevents); }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    void begin_run(Environment&) override { m_events = 0; }
    Ports process(const Ports& inputs) override;

private:
    const AnodePlane* m_anode = nullptr;
    std::vector<DriftVolume> m_volumes;
    std::atomic<std::uint64_t> m_events{0};
};

/// Generate the depositions of one event.
/// @param event  index of the event in the job
/// @throws Error(Configuration) if no track of the minimum length fits
Depositions track_depositions(const TrackDeposConfig& config, const WireAnode& anode,
                              const std::vector<DriftVolume>& volumes, std::uint64_t event);

} // namespace spng
