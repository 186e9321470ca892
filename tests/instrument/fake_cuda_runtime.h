// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions of the CUDA runtime that instrumentation calls, for the fake device: events that are recorded
// while its stream is captured have a time only after the graph was launched.

#include "fake_device.h"
#include "spng/instrument/cuda_runtime.h"

#include <vector>

namespace fake_cuda {

struct Event {
    bool has_time = false;
    double milliseconds = 0;
    unsigned flags = 0;
};

struct State {
    bool capturing = false;
    bool accepts_profiler = true;
    int profiler_starts = 0;
    int profiler_stops = 0;
    int event_waits = 0;
    int events_alive = 0;
    void* stream = nullptr;       ///< that the latest event was recorded on
    std::vector<Event*> captured; ///< nodes of the graph, in order
};

inline State& state() {
    static State the_state;
    return the_state;
}

/// Run the captured work: the first node is reached after one millisecond, the next after two more, then
/// three, ... times `factor`.
inline void launch_graph(double factor = 1) {
    double step = 0;
    for (Event* const event : state().captured) {
        fake_device::state().milliseconds += factor * ++step;
        event->has_time = true;
        event->milliseconds = fake_device::state().milliseconds;
    }
}

/// Answers in place of the CUDA runtime while it lives.
class Guard {
public:
    Guard() {
        state() = {};
        fake_device::state() = {};
        m_runtime.device_type = fake_device::type;
        m_runtime.event_create = [](void** event, unsigned) {
            *event = new Event;
            ++state().events_alive;
            return 0;
        };
        m_runtime.event_destroy = [](void* event) {
            delete static_cast<Event*>(event);
            --state().events_alive;
            return 0;
        };
        m_runtime.event_record = [](void* event, void* stream, unsigned flags) {
            constexpr int invalid_value = 1;
            if (!state().capturing || flags != spng::instrument::cuda_event_record_external) {
                return invalid_value;
            }
            state().stream = stream;
            static_cast<Event*>(event)->flags = flags;
            state().captured.push_back(static_cast<Event*>(event));
            return 0;
        };
        m_runtime.event_query = [](void*) {
            return fake_device::state().complete ? 0 : spng::instrument::cuda_not_ready;
        };
        m_runtime.event_synchronize = [](void*) {
            ++state().event_waits;
            fake_device::state().complete = true;
            return 0;
        };
        m_runtime.event_elapsed = [](float* milliseconds, void* begin, void* end) {
            const auto* const first = static_cast<Event*>(begin);
            const auto* const last = static_cast<Event*>(end);
            *milliseconds = static_cast<float>(last->milliseconds - first->milliseconds);
            return first->has_time && last->has_time ? 0 : spng::instrument::cuda_invalid_handle;
        };
        m_runtime.stream_is_capturing = [](void*, int* status) {
            *status = state().capturing ? 1 : 0;
            return 0;
        };
        m_runtime.profiler_start = [] {
            constexpr int not_permitted = 800;
            ++state().profiler_starts;
            return state().accepts_profiler ? 0 : not_permitted;
        };
        m_runtime.profiler_stop = [] {
            ++state().profiler_stops;
            return 0;
        };
        spng::instrument::replace_cuda_runtime(&m_runtime);
    }
    ~Guard() { spng::instrument::replace_cuda_runtime(nullptr); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

private:
    spng::instrument::CudaRuntime m_runtime;
};

} // namespace fake_cuda
