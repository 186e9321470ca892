// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/state.h"

#include "tests/cuda_simulator/runtime/log.h"
#include "tests/cuda_simulator/runtime/ranges.h"
#include "tests/cuda_simulator/runtime/records.h"
#include "tests/cuda_simulator/runtime/settings.h"

#include <time.h>

#include <algorithm>

namespace cuda_simulator {

namespace {

constexpr std::size_t host_participant = 0;
constexpr std::uint32_t default_stream_id = 7; // as the records of CUPTI have it

// The model of times: the delay of a launch, and the time of an operation of no bytes, of each byte, and of each
// thread of a kernel.
// The delay is longer than that of a device, because the clocks of a recording agree to some microseconds only.
constexpr std::uint64_t launch_ns = 50'000, least_ns = 1500;
constexpr double ns_of_byte_of_copy = 1 / 50.0, ns_of_byte_of_memory = 1 / 3000.0, ns_of_thread = 1 / 500.0;

std::uint64_t duration_of(const Launch& launch) {
    const Operation& operation = launch.operation;
    const bool crosses_bus = operation.kind == Kind::copy_to_device || operation.kind == Kind::copy_to_host;
    const double threads = static_cast<double>(launch.grid.x) * launch.grid.y * launch.grid.z *
                           launch.block.x * launch.block.y * launch.block.z;
    const double bytes = static_cast<double>(operation.bytes);
    return least_ns +
           static_cast<std::uint64_t>(bytes * (crosses_bus ? ns_of_byte_of_copy : ns_of_byte_of_memory) +
                                      (operation.kind == Kind::kernel ? threads * ns_of_thread : 0));
}

} // namespace

ThreadState& thread_state() {
    static thread_local ThreadState own;
    return own;
}

State& state() {
    static auto* const one = new State;
    return *one;
}

std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

Stream& State::stream_of(cudaStream_t stream) {
    if (stream != nullptr && stream != cudaStreamLegacy && stream != cudaStreamPerThread) {
        return *reinterpret_cast<Stream*>(stream);
    }
    const int device = thread_state().device;
    auto& own = m_default_streams[device];
    if (own == nullptr) {
        own = std::make_unique<Stream>();
        own->participant = m_participants++;
        own->id = default_stream_id;
        own->device = device;
    }
    return *own;
}

Stream& State::add_stream(int priority) {
    auto* const stream = new Stream;
    stream->participant = m_participants++;
    stream->id = default_stream_id + static_cast<std::uint32_t>(stream->participant);
    stream->device = thread_state().device;
    stream->priority = priority;
    streams.insert(stream);
    return *stream;
}

void State::remove_stream(Stream& stream) {
    run(stream, stream.queued);
    streams.erase(&stream); // not deleted: events and queues of other streams may name it
}

void State::run(Stream& stream, std::uint64_t position) {
    // Counted before it runs: an operation that waits for another stream may come back to this one.
    while (stream.done < position && !stream.queue.empty()) {
        const auto work = std::move(stream.queue.front());
        stream.queue.pop_front();
        ++stream.done;
        if (work && !lost.contains(stream.device)) {
            work();
        }
    }
}

void State::wait_for(Stream& stream, std::uint64_t position, const Clock& clock) {
    run(stream, position);
    host.join(clock);
}

void State::wait_for_device(int device) {
    for (Stream* const stream : streams) {
        if (stream->device == device) {
            wait_for(*stream, stream->queued, stream->clock);
        }
    }
    if (const auto found = m_default_streams.find(device); found != m_default_streams.end()) {
        wait_for(*found->second, found->second->queued, found->second->clock);
    }
}

void State::enqueue(Stream& stream, Launch launch) {
    launch.range = current_range();
    thread_state().kernels += launch.operation.kind == Kind::kernel;
    if (stream.capture) {
        count_captured(launch);
        if (launch.operation.kind != Kind::numbers) {
            launch.node = record_captured_node();
        }
        stream.capture->graph->launches.push_back(std::move(launch));
        return;
    }
    count(launch);
    start(stream, std::move(launch), 0);
}

void State::launch_graph(Stream& stream, const std::shared_ptr<Graph>& graph) {
    for (const Launch& launch : graph->launches) {
        start(stream, launch, graph->id);
    }
    count_replay(*graph);
}

void State::start(Stream& stream, Launch launch, std::uint32_t graph) {
    detect_races(stream, launch.operation);
    record(stream, launch, graph);
    ++stream.queued;
    stream.queue.push_back(std::move(launch.operation.compute));
    if (settings().runs_at_once) {
        run(stream, stream.queued);
    }
}

void State::make_wait(Stream& stream, const Event& event) {
    if (event.stream == nullptr || event.stream == &stream) {
        return;
    }
    stream.clock.join(event.clock);
    ++stream.queued;
    stream.queue.push_back(
        [this, other = event.stream, position = event.position] { run(*other, position); });
}

void State::detect_races(Stream& stream, const Operation& operation) {
    stream.clock.join(host);
    if (operation.accesses.empty() || !detects_races()) {
        return;
    }
    const Moment moment = stream.clock.advance(stream.participant);
    const auto actor =
        std::make_shared<const Actor>(Actor{operation.name, ++m_operations, stream.id, moment});
    for (const Access& access : operation.accesses) {
        const char* begin = nullptr;
        Block* const block = access.bytes == 0 ? nullptr : memory.find(access.begin, &begin);
        if (block == nullptr) {
            continue;
        }
        const auto offset = static_cast<std::size_t>(static_cast<const char*>(access.begin) - begin);
        const auto rival =
            block->history.note(offset, offset + access.bytes, access.is_write, actor, stream.clock);
        if (rival != nullptr) {
            report_race(*rival, *actor, access.is_write, *block);
        }
    }
}

void State::record(Stream& stream, const Launch& launch, std::uint32_t graph) {
    if (launch.operation.kind == Kind::numbers) {
        record_traffic(launch);
        return;
    }
    const std::uint64_t begin = std::max(stream.end, now() + launch_ns);
    const std::uint64_t duration = duration_of(launch);
    stream.end = begin + duration;
    m_busy[stream.device] += duration;
    record_operation({.kind = launch.operation.kind,
                      .name = launch.operation.name,
                      .device = stream.device,
                      .stream = stream.id,
                      .correlation = current_correlation(),
                      .start = begin,
                      .end = stream.end,
                      .bytes = launch.operation.bytes,
                      .grid = launch.grid,
                      .block = launch.block,
                      .shared_bytes = launch.shared_bytes,
                      .host_is_pageable = launch.host_is_pageable,
                      .graph = graph,
                      .graph_node = launch.node,
                      .traffic = launch.operation.traffic,
                      .range = launch.range});
}

void State::note_launch(int device) {
    ++launches;
    const int vulnerable = settings().lost_device;
    if (settings().lost_after && (vulnerable < 0 || vulnerable == device) &&
        ++m_vulnerable_launches > *settings().lost_after && lost.empty()) {
        lost.insert(device);
        for (Stream* const stream : streams) { // the captures are lost with the device
            if (stream->device == device && stream->capture) {
                captures.erase(stream->capture->id);
                stream->capture.reset();
            }
        }
    }
}

std::uint64_t State::busy_time(int device) const {
    const auto found = m_busy.find(device);
    return found == m_busy.end() ? 0 : found->second;
}

Capture* State::forbidding_capture() {
    const cudaStreamCaptureMode own = thread_state().capture_mode;
    if (own == cudaStreamCaptureModeRelaxed) {
        return nullptr;
    }
    for (const auto& [id, capture] : captures) {
        const bool is_own = capture->owner == std::this_thread::get_id();
        if ((is_own && capture->mode != cudaStreamCaptureModeRelaxed) ||
            (own == cudaStreamCaptureModeGlobal && capture->mode == cudaStreamCaptureModeGlobal)) {
            return capture;
        }
    }
    return nullptr;
}

// --- what the other simulated libraries use ------------------------------------------------------------------------

void enqueue(cudaStream_t stream, Operation operation) {
    const std::lock_guard lock(state().mutex);
    if (operation.kind == Kind::transform) {
        begin_correlation(); // cuFFT launches by the driver, outside of all calls of the runtime
    }
    state().enqueue(state().stream_of(stream), {.operation = std::move(operation)});
}

void run_queue(cudaStream_t stream) {
    const std::lock_guard lock(state().mutex);
    Stream& own = state().stream_of(stream);
    state().run(own, own.queued);
}

bool is_capturing(cudaStream_t stream) {
    const std::lock_guard lock(state().mutex);
    return state().stream_of(stream).capture.has_value();
}

std::uint64_t kernels_of_thread() {
    return thread_state().kernels;
}

void* host_address(const void* address) {
    const std::lock_guard lock(state().mutex);
    return state().memory.host_address(address);
}

void note_allocation(const void* begin, std::size_t bytes) {
    const std::lock_guard lock(state().mutex);
    state().memory.note_allocation(begin, bytes);
}

void note_release(const void* begin) {
    const std::lock_guard lock(state().mutex);
    state().memory.note_release(begin);
}

void set_observer(Observer* observer) {
    const std::lock_guard lock(state().mutex);
    state().observer = observer;
}

} // namespace cuda_simulator
