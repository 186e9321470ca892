// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the simulated runtime: streams, events, graphs, memory and counts, under one lock.

#include "tests/cuda_simulator/runtime/clock.h"
#include "tests/cuda_simulator/runtime/memory.h"
#include "tests/cuda_simulator/simulator.h"

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace cuda_simulator {

/// An operation with what its launch adds to it.
struct Launch {
    Operation operation;
    dim3 grid{1, 1, 1}, block{1, 1, 1};
    int shared_bytes = 0;
    bool host_is_pageable = false;
    std::uint64_t node = 0; ///< of a captured launch: id of the graph's node
    std::string range{};    ///< innermost NVTX range of the thread, empty without NVTX
};

struct Graph {
    std::uint32_t id = 0;
    std::vector<Launch> launches; ///< in order; work of kind `numbers` belongs to the launch before it
};

/// The capture of a graph by a stream.
struct Capture {
    std::uint64_t id = 0;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    std::thread::id owner;
    std::shared_ptr<Graph> graph;
    std::string broken_by; ///< the call that made the capture invalid
};

struct Stream {
    std::size_t participant = 0; ///< in clocks
    std::uint32_t id = 0;        ///< in records
    int device = 0, priority = 0;
    std::deque<std::function<void()>> queue;
    std::uint64_t queued = 0, done = 0;
    Clock clock;
    std::uint64_t end = 0; ///< of the latest operation by the model of times
    std::optional<Capture> capture;
};

struct Event {
    std::uint32_t id = 0; ///< in records
    bool has_timing = true;
    int device = 0;
    Stream* stream = nullptr;   ///< that recorded it; null before
    std::uint64_t position = 0; ///< operations of the stream before it
    Clock clock;
    std::uint64_t time = 0;
    bool is_captured = false;
};

struct ThreadState {
    int device = 0;
    cudaError_t last_error = cudaSuccess;
    cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
    std::uint64_t kernels = 0; ///< launched or captured
};
ThreadState& thread_state();

class State {
public:
    std::recursive_mutex mutex;
    Memory memory;
    Clock host;
    std::set<Stream*> streams; ///< all but the default ones
    std::set<Event*> events;
    std::map<std::uint64_t, Capture*> captures; ///< those under way
    std::set<int> lost;                         ///< devices
    std::uint64_t launches = 0;                 ///< of kernels and graphs by the program, captured ones too
    std::uint64_t allocations = 0;              ///< calls of cudaMalloc
    std::size_t live_graphs = 0;
    Observer* observer = nullptr;

    Stream& stream_of(cudaStream_t stream);
    Stream& add_stream(int priority);
    void remove_stream(Stream& stream);

    /// Run a stream's queue up to a position.
    void run(Stream& stream, std::uint64_t position);
    /// As run(), and the host knows of all that the clock has.
    void wait_for(Stream& stream, std::uint64_t position, const Clock& clock);
    void wait_for_device(int device);

    /// Queue or capture a launch.
    void enqueue(Stream& stream, Launch launch);
    void launch_graph(Stream& stream, const std::shared_ptr<Graph>& graph);
    void make_wait(Stream& stream, const Event& event);

    /// Count a launch of a kernel or graph. The device may be lost by it; calls after this one tell.
    void note_launch(int device);

    /// Sum of the times of a device's operations by the model of times [ns].
    std::uint64_t busy_time(int device) const;

    /// Why a call that could wait or allocate is forbidden now; null if it is allowed.
    Capture* forbidding_capture();

private:
    void start(Stream& stream, Launch launch, std::uint32_t graph);
    void detect_races(Stream& stream, const Operation& operation);
    void record(Stream& stream, const Launch& launch, std::uint32_t graph);

    std::map<int, std::unique_ptr<Stream>> m_default_streams;
    std::size_t m_participants = 1; ///< 0 is the host
    std::uint64_t m_operations = 0;
    std::map<int, std::uint64_t> m_busy; ///< by device
    long m_vulnerable_launches = 0;
};

/// The one state. Never destroyed, because the program's libraries call the runtime from their destructors.
State& state();

/// ns of CLOCK_MONOTONIC.
std::uint64_t now();

} // namespace cuda_simulator
