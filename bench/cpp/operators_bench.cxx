// SPDX-License-Identifier: Apache-2.0
// SPNG's operators at the sizes of one ProtoDUNE-HD anode: U and V 800 channels each, W 2 x 480, 6000 ticks,
// 1500 after rebinning. Compare the real times. On a busy machine, use the minimum of
// --benchmark_repetitions.

#include "spng/core/rows/bit_ticks.h"
#include "spng/nodes/coincidence/coincidence.h"
#include "spng/nodes/decon/baseline.h"
#include "spng/nodes/roi/rebaseline.h"
#include "spng/nodes/roi/region_growth.h"
#include "spng/nodes/roi/robust_rms.h"

#include <ATen/Parallel.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <benchmark/benchmark.h>
#include <malloc.h>

namespace {

constexpr std::int64_t all_channels = 2560;
constexpr std::int64_t ticks = 6000;
constexpr std::int64_t slices = 1500;

/// Keep large buffers in the process, as the program does, so that no run includes the time for fresh pages.
void keep_large_buffers() {
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

at::Tensor tight_mask() {
    return at::rand({all_channels, slices}).lt(0.02);
}

/// 800 targets with 1500 cells each, 1.2 M in all, whose other channels are near each other as in a real
/// plane.
spng::CoincidenceTable one_target_plane() {
    constexpr std::int64_t targets = 800;
    constexpr std::int64_t cells = 1500;
    const auto cell = at::arange(targets * cells, at::kInt);
    const auto other_induction = cell.remainder(cells).remainder(800).add(800);
    const auto collection = cell.remainder(960).add(1600);
    return spng::make_coincidence_table(at::arange(targets + 1, at::kInt).mul(cells),
                                        at::stack({other_induction, collection}, 1), all_channels);
}

void pack_all_planes(benchmark::State& state) {
    const auto mask = tight_mask();
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::pack_ticks(mask));
    }
}

void coincidence_of_one_plane(benchmark::State& state) {
    const auto packed = spng::pack_ticks(tight_mask());
    const auto table = one_target_plane();
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::coincidence(packed, table));
    }
}

void pack_coincidence_products_unpack(benchmark::State& state) {
    const auto mask = tight_mask();
    const auto table = one_target_plane();
    const auto neighbours =
        at::stack({at::arange(-1, 799, at::kInt), at::arange(1, 801, at::kInt)}, 1).clone();
    neighbours[799][1] = -1;
    for (auto _ : state) {
        const auto packed = spng::pack_ticks(mask);
        const auto crossing = spng::coincidence(packed, table);
        const auto products =
            spng::multi_plane(packed.narrow(0, 0, 800), crossing, slices, {2, 3}, neighbours);
        benchmark::DoNotOptimize(spng::unpack_ticks(products, slices));
    }
}

constexpr std::int64_t padded_ticks = 6300;

/// Noise of 5 ADC about a baseline of 2000 with a few pulses up to the end of the ADC range.
at::Tensor adc() {
    auto waveforms = at::randn({all_channels, ticks}).mul(5).add(2000);
    waveforms.slice(1, 100, 120).fill_(16383);
    return waveforms.round().to(at::kShort);
}

void baseline_of_int16(benchmark::State& state) {
    const auto waveforms = adc();
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::subtract_baseline_and_pad(waveforms, padded_ticks, at::kFloat));
    }
}

void baseline_of_float32(benchmark::State& state) {
    const auto waveforms = at::randn({all_channels, ticks}).mul(5).add(2000);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::subtract_baseline_and_pad(waveforms, padded_ticks, at::kFloat));
    }
}

void robust_rms_of_all_channels(benchmark::State& state) {
    const auto waveforms = at::randn({all_channels, slices}).mul(300);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::robust_noise(waveforms, 5));
    }
}

void plain_rms_of_all_channels(benchmark::State& state) {
    const auto waveforms = at::randn({all_channels, slices}).mul(300);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::plain_rms(waveforms));
    }
}

void growth_on_all_channels(benchmark::State& state) {
    const auto waveforms = at::randn({all_channels, slices});
    const auto seeds = waveforms.gt(3);
    const auto level = waveforms.gt(1);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::grow_regions(seeds, level, 2, 2));
    }
}

/// Packed ROIs of 20 slices that cover a tenth of the time.
at::Tensor regions(std::int64_t channels) {
    const auto starts = at::rand({2, channels, slices / 20}).lt(0.1);
    return spng::pack_ticks(spng::upsample_mask(starts, 20));
}

void linear_rebaseline_of_induction(benchmark::State& state) {
    const auto signal = at::randn({2, 800, ticks});
    const auto mask = regions(800);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::apply_regions_linear(signal, mask, 4));
    }
}

void restored_rebaseline_of_collection(benchmark::State& state) {
    const auto signal = at::randn({2, 480, ticks});
    const auto mask = regions(480);
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::apply_regions_restored(signal, mask, 4));
    }
}

BENCHMARK(growth_on_all_channels)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(linear_rebaseline_of_induction)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(restored_rebaseline_of_collection)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(baseline_of_int16)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(baseline_of_float32)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(robust_rms_of_all_channels)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(plain_rms_of_all_channels)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(pack_all_planes)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(coincidence_of_one_plane)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(pack_coincidence_products_unpack)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace

int main(int count, char** values) {
    keep_large_buffers();
    benchmark::Initialize(&count, values);
    if (benchmark::ReportUnrecognizedArguments(count, values)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
