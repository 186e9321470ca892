// SPDX-License-Identifier: Apache-2.0
// Reference time for the chain: one forward and one inverse real two-dimensional transform of all planes of
// one ProtoDUNE-HD anode by LibTorch, zero padded to the sizes of the deconvolution. ./wcb bench alternates
// it with the chain and divides the chain's time by it.

#include "spng/device/memory/host_buffers.h"

#include <ATen/ops/fft_irfft2.h>
#include <ATen/ops/fft_rfft2.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <benchmark/benchmark.h>

namespace {

constexpr std::int64_t ticks = 6000;
constexpr std::int64_t padded_ticks = 6300;

/// (2, padded_channels, padded_ticks) with noise in the first channels and ticks.
at::Tensor padded_noise(std::int64_t channels, std::int64_t padded_channels) {
    auto planes = at::zeros({2, padded_channels, padded_ticks});
    planes.narrow(1, 0, channels).narrow(2, 0, ticks).copy_(at::randn({2, channels, ticks}));
    return planes;
}

void rfft2_and_irfft2_of_all_planes(benchmark::State& state) {
    const auto induction = padded_noise(800, 800);
    const auto collection = padded_noise(480, 500);
    for (auto _ : state) {
        for (const auto& planes : {induction, collection}) {
            const auto shape = planes.sizes().slice(1);
            benchmark::DoNotOptimize(at::fft_irfft2(at::fft_rfft2(planes), shape));
        }
    }
}

} // namespace

// CPU time of all threads, as for the chain.
BENCHMARK(rfft2_and_irfft2_of_all_planes)
    ->Unit(benchmark::kMillisecond)
    ->MeasureProcessCPUTime()
    ->UseRealTime();

int main(int count, char** values) {
    // As in the program, so that neither time includes fresh pages.
    spng::reuse_host_buffers();
    benchmark::Initialize(&count, values);
    if (benchmark::ReportUnrecognizedArguments(count, values)) {
        return 2;
    }
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
