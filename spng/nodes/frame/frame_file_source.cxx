// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_file_source.h"

#include "spng/device/context.h"
#include "spng/device/memory/page_locked.h"
#include "spng/graph/memory_rule.h"
#include "spng/io/data_path.h"
#include "spng/io/mask_ticks.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <filesystem>

namespace spng {
namespace {

int events_ahead(const FrameFileSourceConfig& config, bool on_cuda) {
    return config.read_ahead >= 0 ? config.read_ahead : on_cuda ? 4 : 1;
}

/// Frames hold ADC samples of all channels, two bytes each. The next frames are read while an event is processed; those that
/// CUDA reads besides without being asked are in host memory, which the budget of a device does not limit.
std::vector<PlannedSet> plan_memory(const FrameFileSourceConfig& config, PlannedCall& call) {
    std::int64_t samples = 0;
    for (const auto& group : call.groups) {
        samples += group.samples();
    }
    const PlannedSet frame{call.make({1, samples, 1, nullptr}, MemoryUse::input, 2)};
    for (std::size_t port = 0; port < call.outputs; ++port) {
        call.stage(frame, events_ahead(config, /*on_cuda=*/false));
    }
    return std::vector<PlannedSet>(call.outputs, frame);
}

std::int64_t window_ticks(const FrameFileSourceConfig& config) {
    const WindowGrid& window = config.window;
    return window.core > 0 ? window.before + window.core + window.after : 0;
}

const Registration<FrameFileSource> registration{
    {.type = "FrameFileSource",
     .kind = "source",
     .outputs = {"frame"},
     .concurrency = Concurrency::serial,
     .text = "reads the events of a frame file",
     .memory = memory_rule<FrameFileSource>({.call = plan_memory, .window_ticks = window_ticks})}};

} // namespace

TensorSetPtr set_from(Frame frame, std::uint64_t index, std::optional<ReadoutWindow> window) {
    const TaggedTraces& first = frame.traces.front();
    auto event = std::make_shared<EventInfo>();
    event->index = index;
    event->ident = frame.ident;
    event->start = first.start_ns;
    event->tick = first.tick_ns;
    event->first_tick = first.first_tick;
    event->ticks = first.samples.size(1);
    event->masks = shifted(std::move(frame.channel_masks), -std::int64_t{first.first_tick});
    event->window = window;
    std::vector<NamedTensor> tensors;
    for (auto& traces : frame.traces) {
        auto channels = std::make_shared<ChannelTable>();
        channels->ids = at::tensor(traces.channels, at::kInt).unsqueeze(0);
        channels->good = at::ones(channels->ids.sizes(), at::kBool);
        NamedTensor tensor;
        tensor.name = traces.tag;
        tensor.data = std::move(traces.samples);
        tensor.axes = {{"channel", "", 0, 1},
                       {"tick", "ns", traces.start_ns + traces.first_tick * traces.tick_ns, traces.tick_ns}};
        tensor.channels = std::move(channels);
        tensor.summary = traces.summary.value_or(at::Tensor{});
        if (tensors.empty()) {
            tensor.notes = frame.notes;
        }
        tensors.push_back(std::move(tensor));
    }
    return std::make_shared<const TensorSet>(std::move(event), std::move(tensors));
}

void FrameFileSource::configured() {
    const WindowGrid& grid = config().window;
    for (const auto& [key, ticks] : {std::pair{"core", grid.core}, std::pair{"before", grid.before}}) {
        if (ticks % grid.align != 0) {
            reject("window." + std::string(key), std::to_string(ticks) + " ticks",
                   "a multiple of " + std::to_string(grid.align) + " ticks, one sample of the ROI images");
        }
    }
    if (grid.core > 0 && grid.after > grid.core) {
        reject("window.after", std::to_string(grid.after) + " ticks",
               "at most the " + std::to_string(grid.core) + " ticks of the core");
    }
}

std::vector<std::filesystem::path> FrameFileSource::files_read() const {
    std::vector<std::filesystem::path> files{find_data_file(config().inname)};
    for (const auto& file : config().further_files) {
        files.push_back(find_data_file(file));
    }
    return files;
}

void FrameFileSource::check_files() const {
    FileUser::check_files();
    for (const auto& file : files_read()) {
        if (std::filesystem::is_regular_file(file)) {
            FrameReader reader(file, config().tags);
            if (!reader.next()) {
                reject_file_without_events(file.string(), reader.other_members());
            }
        }
    }
}

void FrameFileSource::begin_run(Environment&) {
    m_calls = 0;
    m_events = 0;
    m_share_done = 0;
    m_stream = std::make_unique<ReadoutStream>(name().text(), config().window, config().series);
    const auto files = files_read();
    const bool regular = std::all_of(files.begin(), files.end(),
                                     [](const auto& file) { return std::filesystem::is_regular_file(file); });
    const auto allocate = [pinned = context().device().is_cuda()](at::IntArrayRef sizes,
                                                                  at::ScalarType type) {
        return host_tensor(sizes, type, pinned);
    };
    m_reader = std::make_unique<FramesAhead<JoinedFrameReader>>(
        std::make_unique<JoinedFrameReader>(files, config().tags, allocate),
        regular ? static_cast<std::size_t>(events_ahead(config(), context().device().is_cuda())) : 0,
        config().nevents < 0 ? FramesAhead<JoinedFrameReader>::no_limit
                             : static_cast<std::uint64_t>(config().nevents));
}

Ports FrameFileSource::process(const Ports&) {
    ++m_calls;
    while (!is_limit_reached()) {
        if (auto event = m_stream->pop()) {
            ++m_events;
            const double limit = std::max(1, config().nevents);
            m_share_done = config().nevents > 0
                               ? std::max(m_reader->share_read(), static_cast<double>(m_events) / limit)
                               : m_reader->share_read();
            return {set_from(std::move(event->frame), m_events - 1, event->window)};
        }
        auto frame = m_reader->next();
        if (frame) {
            m_stream->push(std::move(*frame));
        } else if (!m_stream->empty()) {
            m_stream->end();
        } else if (m_reader->frames_read() == 0 && m_calls == 1) {
            // After the first call, no frame means that the events were present but failed.
            reject_file_without_events(config().inname, m_reader->other_members());
        } else {
            break;
        }
    }
    return {nullptr};
}

} // namespace spng
