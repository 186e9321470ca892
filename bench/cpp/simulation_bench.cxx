// SPDX-License-Identifier: Apache-2.0
// Steps of the simulation at the size of one event of 30 straight tracks in a ProtoDUNE-HD anode: 150 000
// depositions every half millimetre, on the wires of one plane. Three planes make an anode.

#include "spng/nodes/sim/signal/impact_convolution.h"
#include "spng/nodes/sim/signal/noise_model.h"

#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>

namespace {

constexpr std::int64_t wires = 1148;
constexpr std::int64_t ticks = 6000;
constexpr std::int64_t response_ticks = 150; // of 300, the others are negligible
constexpr std::int64_t regions = 21;
constexpr std::int64_t bins = 10;

/// Straight lines in (wire, tick), with the spread of a drift of two metres.
spng::ChargeSpots thirty_tracks() {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> wire(0, wires);
    std::uniform_real_distribution<double> tick(0, ticks);
    spng::ChargeSpots spots;
    for (int track = 0; track < 30; ++track) {
        const double wires_of[] = {wire(random), wire(random)};
        const double ticks_of[] = {tick(random), tick(random)};
        constexpr int steps = 5000;
        for (int step = 0; step < steps; ++step) {
            const double part = (step + 0.5) / steps;
            spots.wire.push_back(std::lerp(wires_of[0], wires_of[1], part));
            spots.tick.push_back(std::lerp(ticks_of[0], ticks_of[1], part));
            spots.wire_sigma.push_back(0.3);
            spots.tick_sigma.push_back(1.2);
            spots.electrons.push_back(2500);
        }
    }
    return spots;
}

spng::ReadoutPlane one_plane() {
    spng::ReadoutPlane plane;
    for (std::int32_t wire = 0; wire < wires; ++wire) {
        plane.row.push_back(wire);
        plane.rows.push_back(wire);
        plane.wires.push_back(wire);
        plane.first_wire.push_back(wire);
    }
    plane.first_wire.push_back(wires);
    return plane;
}

spng::ChargeBinningConfig binning() {
    return {.bins = bins,
            .interpolate = true,
            .nsigma = 3,
            .first_tick = -response_ticks,
            .ticks = ticks + response_ticks};
}

void bin_charge_of_one_plane(benchmark::State& state) {
    const auto spots = thirty_tracks();
    const auto exists = one_plane().exists();
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::bin_charge(spots, exists, binning()));
    }
}

void impact_convolution_of_one_plane(benchmark::State& state) {
    const auto plane = one_plane();
    const auto image = spng::bin_charge(thirty_tracks(), plane.exists(), binning());
    const auto convolution = spng::make_impact_convolution(
        plane, at::randn({regions, bins + 1, response_ticks}, at::kDouble), 0, at::kCPU, at::kFloat);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::impact_convolution(image, convolution, -response_ticks, ticks));
    }
    state.counters["charges"] = static_cast<double>(image.electrons.size());
}

void noise_of_an_anode(benchmark::State& state) {
    const auto amplitude = at::full({2560, ticks / 2 + 1}, 10.0, at::kFloat);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::random_waveforms(amplitude, ticks, 1));
    }
}

BENCHMARK(bin_charge_of_one_plane)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(impact_convolution_of_one_plane)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(noise_of_an_anode)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace

BENCHMARK_MAIN();
