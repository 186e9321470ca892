// SPDX-License-Identifier: Apache-2.0
// Cost of a range for its own thread, without a tool and under the recorder. NVTX attaches a tool once per
// process, so the benchmark runs itself again with the recorder attached.
//
//   build/bench/recorder_bench                  both
//   build/bench/recorder_bench --benchmark_...  options of Google Benchmark, for both

#include "spng/instrument/node_range.h"
#include "spng/instrument/recorder_library.h"

#include "WireCellSpng/TorchnvTools.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

void nothing(benchmark::State& state) {
    for (auto _ : state) {
        benchmark::ClobberMemory();
    }
}

void step_range(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_SCOPED_RANGE("Bench::step");
        benchmark::ClobberMemory();
    }
}

void node_range(benchmark::State& state) {
    const spng::instrument::NodeLabel label("Bench:node", "step");
    std::uint64_t event = 0;
    for (auto _ : state) {
        const spng::instrument::NodeRange range(label, event++);
        benchmark::ClobberMemory();
    }
}

void mark(benchmark::State& state) {
    for (auto _ : state) {
        NVTX_MARK("Bench::mark");
    }
}

/// Ranges in bursts of a thousand with pauses, as in a real run. The benchmarks above record several million
/// ranges per second and therefore include the writer's load on the machine.
void burst_of_1000_ranges(benchmark::State& state) {
    for (auto _ : state) {
        state.PauseTiming();
        usleep(2000);
        state.ResumeTiming();
        for (int i = 0; i < 1000; ++i) {
            NVTX_SCOPED_RANGE("Bench::burst");
            benchmark::ClobberMemory();
        }
    }
}

void run(const std::string& prefix) {
    for (const auto& [name, function] : {std::pair{"nothing", &nothing},
                                         {"step_range", &step_range},
                                         {"node_range", &node_range},
                                         {"mark", &mark}}) {
        benchmark::RegisterBenchmark((prefix + name).c_str(), function);
    }
    benchmark::RegisterBenchmark((prefix + "burst_of_1000_ranges").c_str(), &burst_of_1000_ranges)
        ->Iterations(300);
    benchmark::RunSpecifiedBenchmarks();
}

/// Run the same program with the recorder attached and delete its file.
int run_recorded(char** words) {
    const auto file = std::filesystem::temp_directory_path() / ("recorder-bench-" + std::to_string(getpid()));
    const pid_t child = fork();
    if (child == 0) {
        setenv("NVTX_INJECTION64_PATH", spng::instrument::recorder_path().c_str(), 1);
        setenv("SPNG_RECORD", file.c_str(), 1);
        execv("/proc/self/exe", words);
        std::perror("recorder_bench");
        _exit(127);
    }
    int status = 1;
    waitpid(child, &status, 0);
    std::filesystem::remove(file);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

} // namespace

int main(int count, char** words) {
    const bool is_recorded = std::getenv("NVTX_INJECTION64_PATH") != nullptr;
    std::vector<char*> given(words, words + count + 1); // Initialize removes its own options
    benchmark::Initialize(&count, words);
    if (benchmark::ReportUnrecognizedArguments(count, words)) {
        return 2;
    }
    run(is_recorded ? "recorder/" : "no_tool/");
    return is_recorded || !std::filesystem::exists(spng::instrument::recorder_path())
               ? 0
               : run_recorded(given.data());
}
