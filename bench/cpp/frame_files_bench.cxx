// SPDX-License-Identifier: Apache-2.0
// Writing the result of one ProtoDUNE-HD anode, 2560 channels of 6000 ticks, to frame files of every form. As in the
// default event, 2.26 % of the samples are not 0, in some 10 000 runs. The files are in the folder for temporary files.

#include "spng/core/sparse_samples.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"

#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <numeric>
#include <random>
#include <string>

#include <unistd.h>

namespace {

using spng::FrameForm;

constexpr std::int64_t rows = 2560, ticks = 6000, runs_of_row = 4, ticks_of_run = 34;

/// Return runs at random positions: as many pages of the dense array are touched as by tracks.
std::shared_ptr<const spng::SparseSamples> compact_result() {
    static const auto result = [] {
        auto made = std::make_shared<spng::SparseSamples>();
        made->rows = rows;
        made->ticks = ticks;
        made->runs = at::empty({rows * runs_of_row, 3}, at::kInt);
        made->values = at::empty({rows * runs_of_row * ticks_of_run}, at::kFloat);
        std::mt19937 random(1);
        std::uniform_int_distribution<std::int32_t> begin(0, ticks / runs_of_row - ticks_of_run - 1);
        std::normal_distribution<float> charge(1000, 500);
        auto* run = made->runs.mutable_data_ptr<std::int32_t>();
        for (std::int64_t i = 0; i < made->runs.size(0); ++i, run += 3) {
            run[0] = static_cast<std::int32_t>(i / runs_of_row);
            run[1] = static_cast<std::int32_t>(i % runs_of_row * (ticks / runs_of_row)) + begin(random);
            run[2] = run[1] + ticks_of_run;
        }
        std::generate_n(made->values.mutable_data_ptr<float>(), made->values.numel(),
                        [&] { return charge(random); });
        return made;
    }();
    return result;
}

spng::Frame compact_frame() {
    spng::TaggedTraces traces;
    traces.tag = "signal";
    traces.channels.resize(rows);
    std::iota(traces.channels.begin(), traces.channels.end(), 0);
    traces.tick_ns = 500;
    traces.sparse = compact_result();
    spng::Frame frame;
    frame.traces.push_back(std::move(traces));
    return frame;
}

spng::Frame dense_frame() {
    spng::Frame frame = compact_frame();
    frame.traces[0].samples = dense(*compact_result());
    frame.traces[0].sparse = nullptr;
    return frame;
}

std::filesystem::path file_with(const std::string& ending) {
    return std::filesystem::temp_directory_path() /
           ("spng-frame-files-bench-" + std::to_string(::getpid()) + ending);
}

/// One iteration writes one event. Creating, completing and removing the file are not counted.
void write_event(benchmark::State& state, const spng::Frame& frame, FrameForm form,
                 const std::string& ending) {
    const auto path = file_with(ending);
    double bytes = 0;
    for (auto _ : state) {
        state.PauseTiming();
        auto writer = std::make_unique<spng::FrameWriter>(path, std::nullopt, form);
        state.ResumeTiming();
        writer->write(frame);
        state.PauseTiming();
        writer->close();
        bytes = static_cast<double>(std::filesystem::file_size(path));
        std::filesystem::remove(path);
        state.ResumeTiming();
    }
    state.counters["file_mb"] = bytes * 1e-6;
}

void write_compact(benchmark::State& state, FrameForm form, const std::string& ending) {
    write_event(state, compact_frame(), form, ending);
}

void write_array(benchmark::State& state, FrameForm form, const std::string& ending) {
    write_event(state, dense_frame(), form, ending);
}

void read_file(benchmark::State& state, FrameForm form, const std::string& ending) {
    const auto path = file_with(ending);
    spng::FrameWriter writer(path, std::nullopt, form);
    writer.write(compact_frame());
    writer.close();
    for (auto _ : state) {
        benchmark::DoNotOptimize(spng::FrameReader(path).next());
    }
    std::filesystem::remove(path);
}

BENCHMARK_CAPTURE(write_compact, dense_tar, FrameForm::dense, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_compact, dense_npz, FrameForm::dense, ".npz")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_compact, sparse_tar, FrameForm::sparse, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_compact, sparse_npz, FrameForm::sparse, ".npz")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_array, dense_tar, FrameForm::dense, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_array, dense_npz, FrameForm::dense, ".npz")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(write_array, sparse_tar, FrameForm::sparse, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_file, dense_tar, FrameForm::dense, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_file, sparse_tar, FrameForm::sparse, ".tar")
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

} // namespace

BENCHMARK_MAIN();
