// SPDX-License-Identifier: Apache-2.0
// Events of tracks, muons, blips and ideal lines.

#include "spng/nodes/sim/depos/track_depos.h"

#include "spng/core/error.h"
#include "spng/nodes/sim/depos/recombination.h"
#include "tests/detector/detector_files.h"
#include "tests/support/paths.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

namespace spng {
namespace {

const WireSchema& pdhd() {
    static const WireSchema schema = load_wires(test::data_file("protodunehd-wires-larsoft-v1.json.gz"));
    return schema;
}

const std::vector<DriftVolumeConfig> volume_config{
    {.face = 0, .anode = -3520.945, .response = -3430.465, .cathode = -1.5875}};

Depositions make(const TrackDeposConfig& config, std::uint64_t event = 0) {
    const WireAnode& anode = pdhd().anode(0);
    return track_depositions(config, anode, make_drift_volumes(anode, volume_config, "test"), event);
}

/// Depositions of each track, in the order of the set.
struct Track {
    std::vector<double> time, charge;
    std::vector<Point3> position;
};
std::map<int, Track> by_track(const Depositions& depositions) {
    std::map<int, Track> tracks;
    const at::Tensor data = depositions.data.t().contiguous(), info = depositions.info.contiguous();
    const double* row = data.const_data_ptr<double>();
    for (std::int64_t i = 0; i < depositions.count(); ++i, row += depo_row::count) {
        Track& track = tracks[info.const_data_ptr<int>()[i]];
        track.time.push_back(row[depo_row::time]);
        track.charge.push_back(row[depo_row::charge]);
        track.position.push_back({row[depo_row::x], row[depo_row::y], row[depo_row::z]});
    }
    return tracks;
}

void expect_usable(const Depositions& depositions) {
    const CheckedDepositions checked = checked_depositions(depositions);
    EXPECT_EQ(checked.faults.dropped(), 0) << checked.faults.text();
    EXPECT_FALSE(checked.faults.sign_flipped) << "charge is negative";
    EXPECT_TRUE(at::equal(sorted_by_time(depositions).data, depositions.data)) << "in order of time";
}

TEST(TrackDepos, TracksAreStraightAndHaveTheirCharge) {
    TrackDeposConfig config;
    config.count = 30;
    config.earliest = -1000;
    config.latest = 5000;
    const Depositions event = make(config);
    expect_usable(event);
    const auto tracks = by_track(event);
    ASSERT_EQ(tracks.size(), 30u);
    std::set<double> scales;
    for (const auto& [id, track] : tracks) {
        const auto n = track.position.size();
        const Point3 whole = track.position.back() - track.position.front();
        const double step = whole.length() / static_cast<double>(n - 1);
        EXPECT_NEAR(step, 0.5, 0.01);
        EXPECT_GE(step * static_cast<double>(n), 300);
        double sum = 0, squares = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const Point3 expected =
                track.position.front() + whole * (static_cast<double>(i) / static_cast<double>(n - 1));
            ASSERT_LT((track.position[i] - expected).length(), 1e-8);
            ASSERT_NEAR(track.time[i] - track.time[0], static_cast<double>(i) * step / speed_of_light, 1e-6);
            sum -= track.charge[i];
            squares += track.charge[i] * track.charge[i];
        }
        const double mean = sum / static_cast<double>(n);
        const double scale = mean / step / 5000;
        EXPECT_GT(scale, 0.89);
        EXPECT_LT(scale, 1.41);
        scales.insert(scale);
        EXPECT_NEAR(std::sqrt(squares / static_cast<double>(n) - mean * mean) / mean, 0.15, 0.03);
        EXPECT_GE(track.time.front(), -1000);
        EXPECT_LE(track.time.front(), 5001);
        // 15 mm from wires, response plane and cathode.
        for (const Point3& end : {track.position.front(), track.position.back()}) {
            EXPECT_GT(end.x, -3430.465 + 15);
            EXPECT_LT(end.x, -1.5875 - 15);
            EXPECT_GT(end.y, 76.1 + 15);
            EXPECT_LT(end.z, 2305.73 - 15);
        }
    }
    EXPECT_EQ(scales.size(), 30u);
}

TEST(TrackDepos, DirectionsAreIsotropic) {
    RandomStream random(9);
    constexpr int n = 30000;
    Point3 mean, squares;
    for (int i = 0; i < n; ++i) {
        const Point3 d = isotropic_direction(random);
        ASSERT_NEAR(d.length(), 1, 1e-12);
        mean = mean + d;
        squares = squares + Point3{d.x * d.x, d.y * d.y, d.z * d.z};
    }
    for (const double component : {mean.x, mean.y, mean.z}) {
        EXPECT_NEAR(component / n, 0, 4 * std::sqrt(1.0 / 3 / n));
    }
    for (const double square : {squares.x, squares.y, squares.z}) {
        EXPECT_NEAR(square / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
    }
    // Lines through uniform points of a cube are symmetric in its axes.
    const Box cube{{0, 0, 0}, {100, 100, 100}};
    Point3 directions;
    for (int i = 0; i < n; ++i) {
        const Segment line = random_line(random, cube, 0);
        const Point3 d = line.end - line.begin;
        directions = directions + Point3{d.x * d.x, d.y * d.y, d.z * d.z} * (1 / (d.length() * d.length()));
        for (const Point3& end : {line.begin, line.end}) {
            const double nearest =
                std::min({std::abs(end.x), std::abs(end.y), std::abs(end.z), std::abs(end.x - 100),
                          std::abs(end.y - 100), std::abs(end.z - 100)});
            ASSERT_LT(nearest, 1e-9) << "from edge to edge";
        }
    }
    EXPECT_NEAR(directions.x / n, 1.0 / 3, 4 * std::sqrt(4.0 / 45 / n));
    EXPECT_THROW(random_line(random, cube, 200), Error);
}

TEST(TrackDepos, ResultDoesNotDependOnThreads) {
    const int threads = at::get_num_threads();
    for (const char* kind : {"tracks", "muons", "blips", "line"}) {
        TrackDeposConfig config;
        config.kind = kind;
        config.count = 6;
        config.line.y = 3000;
        config.line.z = 1150;
        config.latest = 1e6;
        at::set_num_threads(1);
        const Depositions first = make(config, 3);
        at::set_num_threads(3);
        const Depositions again = make(config, 3);
        at::set_num_threads(threads);
        EXPECT_TRUE(at::equal(first.data, again.data)) << kind;
        EXPECT_TRUE(at::equal(first.info, again.info)) << kind;
        const Depositions other_event = make(config, 4);
        config.seed = 2;
        const Depositions other_seed = make(config, 3);
        for (const Depositions& other : {other_event, other_seed}) {
            EXPECT_FALSE(other.count() == first.count() && at::equal(other.data, first.data)) << kind;
        }
        // A track does not depend on the number of other tracks.
        if (config.kind != "line") {
            config.seed = 1;
            config.count = 2;
            const auto few = by_track(make(config, 3)), many = by_track(first);
            EXPECT_EQ(few.at(1).charge, many.at(1).charge) << kind;
        }
    }
}

TEST(TrackDepos, MuonsLeaveTwoMeVPerCentimetre) {
    TrackDeposConfig config;
    config.kind = "muons";
    config.count = 40;
    const Depositions event = make(config);
    expect_usable(event);
    double electrons = 0, length = 0;
    for (const auto& [id, track] : by_track(event)) {
        length += 0.5 * static_cast<double>(track.position.size());
        for (const double charge : track.charge) {
            electrons -= charge;
        }
        // Cosmic muons come from above and bend little.
        EXPECT_LT(track.position.back().y, track.position.front().y + 1);
    }
    EXPECT_EQ(event.info[depo_info_row::pdg].min().item().toInt(), 13);
    // From collisions below 3 MeV, a muon of some GeV loses 2.05 to 2.2 MeV/cm; 70 % of the electrons stay
    // free.
    const double per_mm = electrons / length;
    EXPECT_GT(per_mm, 0.205e6 / ionisation_energy_eV * 0.70 * 0.97);
    EXPECT_LT(per_mm, 0.225e6 / ionisation_energy_eV * 0.70 * 1.03);
}

TEST(TrackDepos, BlipsArePointsInTheVolume) {
    TrackDeposConfig config;
    config.kind = "blips";
    config.count = 2000;
    const Depositions event = make(config);
    expect_usable(event);
    ASSERT_EQ(event.count(), 2000);
    const double fraction = *free_fraction(at::tensor({0.25}, at::kDouble), 5e-5, RecombinationModel::box)
                                 .const_data_ptr<double>();
    const at::Tensor energy = event.data[depo_row::charge] * (-ionisation_energy_eV * 1e-6 / fraction); // MeV
    EXPECT_GE(energy.min().item().toDouble(), 0.2 - 1e-9);
    EXPECT_LE(energy.max().item().toDouble(), 5 + 1e-9);
    // The logarithm of the energy is uniform.
    EXPECT_NEAR(energy.log().mean().item().toDouble(), 0.5 * (std::log(0.2) + std::log(5)), 0.1);
    const at::Tensor x = event.data[depo_row::x];
    EXPECT_NEAR(x.mean().item().toDouble(), 0.5 * (-3430.465 - 1.5875), 100);
    EXPECT_LT(x.min().item().toDouble(), -3300);
    EXPECT_GT(x.max().item().toDouble(), -150);
    EXPECT_EQ(event.info[depo_info_row::pdg].min().item().toInt(), 11);
}

TEST(TrackDepos, NoneIsAnEmptyEvent) {
    TrackDeposConfig config;
    config.kind = "none";
    EXPECT_EQ(make(config).count(), 0);
    config.kind = "tracks";
    config.count = 0;
    EXPECT_EQ(make(config).count(), 0);
}

TEST(LineScan, LinesFollowTheirDefinition) {
    const WireAnode& anode = pdhd().anode(0);
    for (const int plane : {0, 1, 2}) {
        TrackDeposConfig config;
        config.kind = "line";
        config.line = {.plane = plane, .y = 3000, .z = 1150};
        const Depositions event = make(config);
        expect_usable(event);
        const auto tracks = by_track(event);
        ASSERT_EQ(tracks.size(), 14u);
        const Point2 pitch = anode.face(0).plane(plane).pitch_direction;
        const Point2 along = anode.face(0).plane(plane).direction;
        std::vector<double> offsets;
        for (const auto& [id, track] : tracks) {
            const double angle = config.line.angles[static_cast<std::size_t>(id)] * std::numbers::pi / 180;
            const Point3 whole = track.position.back() - track.position.front();
            const auto n = static_cast<double>(track.position.size());
            const double length = whole.length() * n / (n - 1);
            EXPECT_NEAR(length, std::min(110 / std::cos(angle), 1000.0), 1e-6);
            // Angle to the pitch direction; the line has no component along the wires.
            const double across = whole.y * pitch.y + whole.z * pitch.z;
            EXPECT_NEAR(std::atan2(whole.x, across), angle, 1e-9);
            EXPECT_NEAR(whole.y * along.y + whole.z * along.z, 0, 1e-9);
            const Point3 middle = (track.position.front() + track.position.back()) * 0.5;
            EXPECT_NEAR((middle.y - 3000) * along.y + (middle.z - 1150) * along.z, 0, 1e-9);
            offsets.push_back((middle.y - 3000) * pitch.y + (middle.z - 1150) * pitch.z);
            for (const Point3& end : {track.position.front(), track.position.back()}) {
                EXPECT_GT(end.x + 3430.465, 700);
                EXPECT_LT(end.x + 3430.465, 2200);
            }
            double charge = 0;
            for (const double each : track.charge) {
                charge += each;
                ASSERT_DOUBLE_EQ(each, track.charge.front()) << "no straggling";
            }
            EXPECT_NEAR(charge / length, -5000, 1e-6);
        }
        EXPECT_FALSE(std::is_sorted(offsets.begin(), offsets.end())) << "in a random order";
        std::sort(offsets.begin(), offsets.end());
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            EXPECT_NEAR(offsets[i], 155 * (static_cast<double>(i) - 6.5), 1e-6);
        }
    }
}

TEST(LineScan, OneAngleIsOneLineInTheMiddle) {
    TrackDeposConfig config;
    config.kind = "line";
    config.line = {.plane = 2, .angles = {90}, .y = 3000, .z = 1150};
    const auto tracks = by_track(make(config));
    ASSERT_EQ(tracks.size(), 1u);
    const Point3 middle = (tracks.at(0).position.front() + tracks.at(0).position.back()) * 0.5;
    EXPECT_NEAR(middle.y, 3000, 1e-6);
    EXPECT_NEAR(middle.z, 1150, 1e-6);
    EXPECT_NEAR((tracks.at(0).position.back() - tracks.at(0).position.front()).length(), 1000, 0.6);
}

} // namespace
} // namespace spng
