// SPDX-License-Identifier: Apache-2.0
// Upper limits of this machine, for comparison with the times of the steps: memory bandwidth of a copy, rate
// of a matrix product, and rate of the real and complex transforms of the chain. LibTorch computes all of
// them, with as many threads as the steps. Sizes are those of one ProtoDUNE-HD anode.

#include "spng/device/memory/host_buffers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/fft_fft.h>
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

#include <cmath>

namespace {

/// Counters: bytes_per_second and items_per_second (floating point operations) of Google Benchmark.
void copy_of_all_samples(benchmark::State& state) {
    const auto source = at::randn({2560, 6300});
    auto target = at::empty(source.sizes());
    for (auto _ : state) {
        target.copy_(source);
        benchmark::ClobberMemory();
    }
    state.SetBytesProcessed(state.iterations() * 2 * static_cast<std::int64_t>(source.nbytes()));
}

void product_of_matrices(benchmark::State& state) {
    constexpr std::int64_t size = 1024;
    const auto left = at::randn({size, size});
    const auto right = at::randn({size, size});
    for (auto _ : state) {
        benchmark::DoNotOptimize(at::matmul(left, right));
    }
    state.SetItemsProcessed(state.iterations() * 2 * size * size * size);
}

/// Usual count of operations: 5/2 N log2 N operations for a real transform of N samples, 5 N log2 N for a
/// complex one.
std::int64_t operations(double factor, std::int64_t length, std::int64_t rows) {
    const auto samples = static_cast<double>(length);
    return static_cast<std::int64_t>(factor * samples * std::log2(samples) * static_cast<double>(rows));
}

/// 40 rows are 1 MB and fit into the caches.
void real_transforms_of_ticks(benchmark::State& state) {
    constexpr std::int64_t rows = 40, ticks = 6300;
    const auto waveforms = at::randn({rows, ticks});
    for (auto _ : state) {
        benchmark::DoNotOptimize(at::fft_irfft(at::fft_rfft(waveforms), ticks));
    }
    state.SetItemsProcessed(state.iterations() * 2 * operations(2.5, ticks, rows));
}

void complex_transforms_of_channels(benchmark::State& state) {
    constexpr std::int64_t rows = 128, channels = 800;
    const auto spectra = at::randn({rows, channels}, at::kComplexFloat);
    for (auto _ : state) {
        benchmark::DoNotOptimize(at::fft_fft(spectra));
    }
    state.SetItemsProcessed(state.iterations() * operations(5, channels, rows));
}

BENCHMARK(copy_of_all_samples)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(product_of_matrices)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(real_transforms_of_ticks)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(complex_transforms_of_channels)->Unit(benchmark::kMillisecond)->UseRealTime();

} // namespace

int main(int count, char** values) {
    spng::reuse_host_buffers(); // as in the program, to avoid fresh pages in each repetition
    benchmark::Initialize(&count, values);
    if (benchmark::ReportUnrecognizedArguments(count, values)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
