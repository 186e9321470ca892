// SPDX-License-Identifier: Apache-2.0
// Reading and writing of one ProtoDUNE-HD anode, 2560 channels of 6000 ticks, in frame files of every form. As in the
// default event, 2.26 % of the samples of a result are not 0, in some 10 000 runs. The files are in the folder for
// temporary files.

#include "spng/core/sparse_samples.h"
#include "spng/instrument/background_thread.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/nodes/frame/frames_ahead.h"
#include "spng/nodes/frame/frames_behind.h"

#include <ATen/ops/empty.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <vector>

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

constexpr int adc_events = 12; // of a file

/// Make a file of ADC waveforms: noise of 2.5 counts around a baseline, of which deflate leaves half.
void write_adc(const std::filesystem::path& path, int level) {
    spng::Frame frame;
    spng::TaggedTraces traces;
    traces.tag = "adc";
    traces.channels.resize(rows);
    std::iota(traces.channels.begin(), traces.channels.end(), 0);
    traces.tick_ns = 500;
    traces.samples = at::empty({rows, ticks}, at::kShort);
    std::mt19937 random(2);
    std::normal_distribution<float> noise(900, 2.5F);
    std::generate_n(traces.samples.mutable_data_ptr<std::int16_t>(), traces.samples.numel(),
                    [&] { return static_cast<std::int16_t>(noise(random)); });
    frame.traces.push_back(std::move(traces));
    spng::FrameWriter writer(path, level);
    for (frame.ident = 0; frame.ident < adc_events; ++frame.ident) {
        writer.write(frame);
    }
    writer.close();
}

/// Memory that is used again, as LibTorch's page-locked memory is.
class ReusedMemory {
public:
    at::Tensor operator()(at::IntArrayRef sizes, at::ScalarType type) {
        const std::lock_guard lock(m_mutex);
        for (const at::Tensor& buffer : m_buffers) {
            if (buffer.sizes() == sizes && buffer.scalar_type() == type &&
                buffer.storage().use_count() == 1) {
                return buffer.alias();
            }
        }
        return m_buffers.emplace_back(at::empty(sizes, type)).alias();
    }

private:
    std::mutex m_mutex;
    std::vector<at::Tensor> m_buffers;
};

/// One iteration takes an event from the reader and gives its result to the writer, as the nodes beside a device do that
/// needs no time. `reader_ms` and `writer_ms` are processor time of their threads for an event: the larger one, divided by
/// the threads of its kind, bounds the rate, and so does their sum, divided by the cores.
void source_and_sink(benchmark::State& state, const std::string& ending, int level, FrameForm form,
                     std::size_t ahead) {
    const auto input = file_with("-adc" + ending);
    const auto output = file_with("-out.tar");
    write_adc(input, level);
    ReusedMemory memory;
    const auto open = [&] {
        return std::make_unique<spng::FramesAhead<spng::FrameReader>>(
            std::make_unique<spng::FrameReader>(input, std::vector<std::string>{"*"}, std::ref(memory)),
            ahead);
    };
    auto reader = open();
    auto writer = std::make_unique<spng::FramesBehind>(output, std::nullopt, true, form);
    const spng::Frame result = compact_frame();
    std::uint64_t event = 0;
    const auto before = spng::instrument::background_cpu_by_name();
    for (auto _ : state) {
        if (reader->at_end()) {
            reader = open();
        }
        benchmark::DoNotOptimize(reader->next());
        writer->write(result, event++);
    }
    writer->close();
    reader.reset();
    auto after = spng::instrument::background_cpu_by_name();
    const auto spent = [&](const std::string& name) {
        const auto old = before.find(name);
        return 1e-6 * static_cast<double>(after[name] - (old == before.end() ? 0 : old->second)) /
               static_cast<double>(std::max<std::uint64_t>(event, 1));
    };
    state.counters["reader_ms"] = spent("read-ahead");
    state.counters["writer_ms"] = spent("write-behind");
    state.SetItemsProcessed(static_cast<std::int64_t>(event));
    std::filesystem::remove(input);
    std::filesystem::remove(output);
}

BENCHMARK_CAPTURE(source_and_sink, tar_to_sparse, ".tar", 0, FrameForm::sparse, 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(source_and_sink, tar_to_sparse_two_threads, ".tar", 0, FrameForm::sparse, 2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(source_and_sink, stored_npz_to_sparse, ".npz", 0, FrameForm::sparse, 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(source_and_sink, deflated_npz_to_sparse, ".npz", 1, FrameForm::sparse, 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(source_and_sink, deflated_npz_to_sparse_two_threads, ".npz", 1, FrameForm::sparse, 2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(source_and_sink, tar_to_dense, ".tar", 0, FrameForm::dense, 1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
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
