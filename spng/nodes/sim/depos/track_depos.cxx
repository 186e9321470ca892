// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/track_depos.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/anode_plane.h"
#include "spng/nodes/sim/depos/recombination.h"
#include "spng/nodes/sim/random_stream.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <utility>

namespace spng {
namespace {

constexpr int muon_pdg = 13;
constexpr int electron_pdg = 11;

const Registration<TrackDepos> registration{
    {.type = "SPNGTrackDepos",
     .kind = "source",
     .outputs = {"depositions"},
     .concurrency = Concurrency::serial,
     .text = "generates events with tracks, muons, blips or ideal lines"}};

Depositions depositions_from(const ChargePoints& points) {
    if (points.time.empty()) {
        return no_depositions();
    }
    const auto row = [](const std::vector<double>& values) { return at::tensor(values, at::kDouble); };
    const at::Tensor charge = row(points.electrons), none = at::zeros_like(charge);
    const at::Tensor id = at::tensor(points.id, at::kInt), zero = at::zeros_like(id);
    return sorted_by_time(
        {at::stack({row(points.time), charge.neg(), row(points.x), row(points.y), row(points.z), none, none}),
         at::stack({id, at::tensor(points.pdg, at::kInt), zero, zero})});
}

/// Generator of the tracks of one event, each with its own random numbers.
class Generator {
public:
    Generator(const TrackDeposConfig& config, const std::vector<DriftVolume>& volumes, std::uint64_t seed)
        : m_config(config), m_seed(seed) {
        for (const DriftVolume& volume : volumes) {
            m_inner.push_back(box_of(volume, config.margin));
            m_whole.push_back(box_of(volume, 0));
        }
    }

    ChargePoints tracks() const {
        ChargePoints points;
        for (int id = 0; id < m_config.count; ++id) {
            RandomStream random = stream(id);
            const double start = begin(random);
            const Segment line = random_line(random, m_inner[random_volume(random)], m_config.shortest);
            append_line(points, random, line, start, m_config.step, m_config.charge, id);
        }
        return points;
    }

    ChargePoints muons() const {
        std::vector<EnergyDeposits> deposits(static_cast<std::size_t>(m_config.count));
        at::parallel_for(0, m_config.count, 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t id = first; id < last; ++id) {
                RandomStream random = stream(id);
                const double start = begin(random);
                const Box& box = m_whole[random_volume(random)];
                deposits[static_cast<std::size_t>(id)] =
                    muon_deposits(random, random_muon(random, box, m_config.muon), box, start, m_config.step,
                                  m_config.muon.delta_cut);
            }
        });
        return charges_of(deposits, muon_pdg);
    }

    ChargePoints blips() const {
        const BlipConfig& blip = m_config.blip;
        std::vector<EnergyDeposits> deposits(static_cast<std::size_t>(m_config.count));
        for (int id = 0; id < m_config.count; ++id) {
            RandomStream random = stream(id);
            const double start = begin(random);
            const Point3 position = random_point(random, m_inner[random_volume(random)]);
            const double energy =
                std::exp(random.uniform(std::log(blip.low_energy), std::log(blip.high_energy)));
            deposits[static_cast<std::size_t>(id)].add(start, position, energy, blip.dedx);
        }
        return charges_of(deposits, electron_pdg);
    }

    ChargePoints lines(const DriftVolume& volume, const WirePlane& plane) const {
        ChargePoints points;
        const ChargeLineConfig uniform{
            .charge_per_mm = m_config.charge.charge_per_mm, .straggling = 0, .low_scale = 1, .high_scale = 1};
        const std::vector<Segment> segments = line_scan(m_config.line, volume, plane, m_seed);
        for (std::size_t id = 0; id < segments.size(); ++id) {
            RandomStream random = stream(static_cast<std::int64_t>(id));
            append_line(points, random, segments[id], begin(random), m_config.step, uniform,
                        static_cast<int>(id));
        }
        return points;
    }

private:
    RandomStream stream(std::int64_t id) const {
        return RandomStream(mixed_seed(m_seed, static_cast<std::uint64_t>(id), seed_purpose::track));
    }

    double begin(RandomStream& random) const { return random.uniform(m_config.earliest, m_config.latest); }

    /// Draw the index of a volume, with probabilities proportional to the sizes.
    std::size_t random_volume(RandomStream& random) const {
        double all = 0;
        for (const Box& box : m_whole) {
            all += box.size();
        }
        double left = random.uniform(0, all);
        std::size_t chosen = 0;
        while (chosen + 1 < m_whole.size() && left > m_whole[chosen].size()) {
            left -= m_whole[chosen++].size();
        }
        return chosen;
    }

    /// Return the charges of tracks 0, 1, ... after recombination.
    ChargePoints charges_of(const std::vector<EnergyDeposits>& deposits, int pdg) const {
        std::vector<double> energy, dedx;
        for (const EnergyDeposits& track : deposits) {
            energy.insert(energy.end(), track.energy.begin(), track.energy.end());
            dedx.insert(dedx.end(), track.dedx.begin(), track.dedx.end());
        }
        const auto model =
            m_config.muon.recombination == "box" ? RecombinationModel::box : RecombinationModel::birks;
        const at::Tensor electrons = free_electrons(
            at::tensor(energy, at::kDouble), at::tensor(dedx, at::kDouble), m_config.electric_field, model);
        const double* charge = electrons.const_data_ptr<double>();
        ChargePoints points;
        for (std::size_t id = 0; id < deposits.size(); ++id) {
            const EnergyDeposits& track = deposits[id];
            for (std::size_t i = 0; i < track.energy.size(); ++i) {
                points.add(track.time[i], track.position[i], *charge++, static_cast<int>(id), pdg);
            }
        }
        return points;
    }

    const TrackDeposConfig& m_config;
    std::uint64_t m_seed;
    std::vector<Box> m_inner; ///< volumes without the margin
    std::vector<Box> m_whole; ///< whole volumes
};

} // namespace

Depositions track_depositions(const TrackDeposConfig& config, const WireAnode& anode,
                              const std::vector<DriftVolume>& volumes, std::uint64_t event) {
    const Generator generator(
        config, volumes, mixed_seed(static_cast<std::uint64_t>(config.seed), event, seed_purpose::generate));
    if (config.kind == "tracks") {
        return depositions_from(generator.tracks());
    }
    if (config.kind == "muons") {
        return depositions_from(generator.muons());
    }
    if (config.kind == "blips") {
        return depositions_from(generator.blips());
    }
    if (config.kind == "line") {
        const DriftVolume& volume = volumes.front();
        return depositions_from(generator.lines(volume, anode.face(volume.face).plane(config.line.plane)));
    }
    return no_depositions();
}

void TrackDepos::configured() {
    const auto require_order = [this](const char* key, double low, double high, const char* expected) {
        if (low > high) {
            reject(key, std::to_string(low) + " to " + std::to_string(high), expected);
        }
    };
    require_order("latest", config().earliest, config().latest, "not before earliest");
    require_order("charge.high_scale", config().charge.low_scale, config().charge.high_scale,
                  "not below low_scale");
    require_order("blip.high_energy", config().blip.low_energy, config().blip.high_energy,
                  "not below low_energy");
}

void TrackDepos::prepare_node(Environment& environment) {
    m_anode = &environment.service<AnodePlane>(config().anode, name().text());
    m_volumes = make_drift_volumes(m_anode->wires(), config().volumes, at_key("volumes"));
    for (const DriftVolume& volume : m_volumes) {
        const Box box = box_of(volume, config().margin);
        if (!(box.low.x < box.high.x && box.low.y < box.high.y && box.low.z < box.high.z)) {
            reject("margin", std::to_string(config().margin) + " mm", "less than half of the drift volume");
        }
    }
}

Ports TrackDepos::process(const Ports&) {
    if (at_end()) {
        return {nullptr};
    }
    NVTX_SCOPED_RANGE("TrackDepos::generate");
    auto event = std::make_shared<EventInfo>();
    event->index = m_events++;
    event->ident = static_cast<int>(event->index);
    Depositions depositions = track_depositions(config(), m_anode->wires(), m_volumes, event->index);
    return {deposition_set(std::move(event), std::move(depositions))};
}

} // namespace spng
