// SPDX-License-Identifier: Apache-2.0
// Cost of instrumentation when no tool is attached. Limits: 1 us for a node call, 5 ns for an idle range.

#include "WireCellSpng/TorchnvTools.h"
#include "spng/instrument/event_range.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/node_range.h"
#include "spng/instrument/user_timer/scoped_timer.h"

#include <ATen/ops/add.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include <benchmark/benchmark.h>

namespace {

using namespace spng::instrument;

void idle_scoped_range(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_SCOPED_RANGE("Benchmark::scoped");
        benchmark::ClobberMemory();
    }
}
BENCHMARK(idle_scoped_range);

void idle_range_with_payload(benchmark::State& state) {
    std::uint64_t event = 0;
    for (auto _ : state) {
        NVTX_RANGE("Benchmark::payload", 0xFF4E79A7, event);
        benchmark::DoNotOptimize(++event);
    }
}
BENCHMARK(idle_range_with_payload);

void idle_mark(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_MARK("Benchmark::mark");
        benchmark::ClobberMemory();
    }
}
BENCHMARK(idle_mark);

void idle_node_range(benchmark::State& state) {
    const NodeLabel label("SPNGBenchmark:node", "decon");
    std::uint64_t event = 0;
    for (auto _ : state) {
        const NodeRange range(label, ++event);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(idle_node_range);

void idle_event_range(benchmark::State& state) {
    std::uint64_t event = 0;
    for (auto _ : state) {
        const EventRange range(++event);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(idle_event_range);

void idle_asynchronous_range(benchmark::State& state) {
    for (auto _ : state) {
        auto range = NVTX_RANGE_START("Benchmark::asynchronous", 7);
        benchmark::DoNotOptimize(range);
        NVTX_RANGE_END(range);
    }
}
BENCHMARK(idle_asynchronous_range);

void idle_push_and_pop(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_RANGE_PUSH("Benchmark::push");
        benchmark::ClobberMemory();
        NVTX_RANGE_POP();
    }
}
BENCHMARK(idle_push_and_pop);

/// Range above the active level, which is 2 unless SPNG_NVTX_LEVEL is set.
void idle_scheduling_range(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_SCHEDULING_RANGE("Benchmark::scheduling", 7);
        benchmark::ClobberMemory();
    }
}
BENCHMARK(idle_scheduling_range);

void inactive_scoped_timer(benchmark::State& state) {
    for (auto _ : state) {
        const spng::ScopedTimer timer("inactive", {.active = false});
        benchmark::ClobberMemory();
    }
}
BENCHMARK(inactive_scoped_timer);

void scoped_timer(benchmark::State& state) {
    for (auto _ : state) {
        const spng::ScopedTimer timer("active", {.print = false});
        benchmark::ClobberMemory();
    }
}
BENCHMARK(scoped_timer);

void one_clock(benchmark::State& state, std::int64_t (*clock)()) {
    for (auto _ : state) {
        benchmark::DoNotOptimize(clock());
    }
}
BENCHMARK_CAPTURE(one_clock, wall, [] { return wall_nanoseconds(); });
BENCHMARK_CAPTURE(one_clock, cpu_of_process, [] { return cpu_nanoseconds(CpuClock::Process); });
BENCHMARK_CAPTURE(one_clock, cpu_of_thread, [] { return cpu_nanoseconds(CpuClock::Thread); });

/// Complete measured call without work. Iterations are bounded, because every call keeps a record.
void empty_call(benchmark::State& state, MeterMode mode) {
    NodeMeter meter({"SPNGBenchmark", "empty", "filter"});
    std::uint64_t event = 0;
    for (auto _ : state) {
        NodeMeter::Call call(meter, event++, c10::kCPU, mode);
    }
}
BENCHMARK_CAPTURE(empty_call, process_clock, MeterMode{})->Iterations(200'000);
BENCHMARK_CAPTURE(empty_call, thread_clock, MeterMode{.cpu_clock = CpuClock::Thread})->Iterations(200'000);

/// Addition of two numbers, to measure the time that counting adds to an operator.
void addition_outside_of_calls(benchmark::State& state) {
    const c10::InferenceMode no_gradients;
    const at::Tensor one = at::ones({1});
    for (auto _ : state) {
        benchmark::DoNotOptimize(at::add(one, one));
    }
}
BENCHMARK(addition_outside_of_calls);

void addition_in_a_call(benchmark::State& state) {
    const c10::InferenceMode no_gradients;
    NodeMeter meter({"SPNGBenchmark", "add", "filter"});
    const NodeMeter::Call call(meter, 0, c10::kCPU, {});
    const at::Tensor one = at::ones({1});
    for (auto _ : state) {
        benchmark::DoNotOptimize(at::add(one, one));
    }
}
BENCHMARK(addition_in_a_call);

} // namespace

BENCHMARK_MAIN();
