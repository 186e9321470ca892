// The yardstick of the whole chain: one real two-dimensional transform there and back of all planes of one
// ProtoDUNE-HD anode at the padded length, as LibTorch does it. ./wcb bench divides the chain's time by it.

#include <ATen/ops/fft_irfft2.h>
#include <ATen/ops/fft_rfft2.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>

namespace {

constexpr std::int64_t ticks = 6000;

void rfft2_and_irfft2_of_all_planes(benchmark::State& state) {
    const auto induction = at::randn({2, 800, ticks});
    const auto collection = at::randn({2, 480, ticks});
    for (auto _ : state) {
        for (const auto& planes : {induction, collection}) {
            const auto shape = planes.sizes().slice(1);
            benchmark::DoNotOptimize(at::fft_irfft2(at::fft_rfft2(planes), shape));
        }
    }
}

} // namespace

BENCHMARK(rfft2_and_irfft2_of_all_planes)->Unit(benchmark::kMillisecond)->UseRealTime();
