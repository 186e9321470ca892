// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activity records of what the simulated runtime reports, in the structures and the order of CUPTI 13.

#include "tests/cuda_simulator/cupti/activity_buffers.h"
#include "tests/cuda_simulator/simulator.h"

#include <cupti.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cuda_simulator {

class Activity final : public Observer {
public:
    /// Return the only one. It is never destroyed, because the program may call CUDA until it ends.
    static Activity& instance();

    ActivityBuffers& buffers() { return m_buffers; }

    CUptiResult enable(CUpti_ActivityKind kind, bool on);
    /// Record a function of the driver or of the runtime without recording all of them.
    void enable_call(CUpti_ActivityKind kind, std::uint32_t id, bool on);
    /// Use another clock than CLOCK_MONOTONIC.
    CUptiResult set_clock(CUpti_TimestampCallbackFunc clock);
    std::uint64_t now() const;
    void use_system_thread_ids(bool on);
    CUptiResult push_external(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
    CUptiResult pop_external(CUpti_ExternalCorrelationKind kind, std::uint64_t* id);
    void flush(bool all);

    CUptiResult subscribe(CUpti_CallbackFunc function, void* data, const char* name);
    void unsubscribe();
    /// Return the name of the subscribed tool; null: none.
    const char* subscriber() const;
    void enable_callback(CUpti_CallbackId id, bool on);

    void call(const CallRecord& record) override;
    void operation(const OperationRecord& record) override;
    void memory(const MemoryRecord& record) override;
    void graph_node(const GraphNodeRecord& record) override;

private:
    bool records(CUpti_ActivityKind kind) const { return m_kinds.count(kind) != 0; }
    bool records_call(CUpti_ActivityKind kind, std::uint32_t id) const;
    std::uint64_t time(std::uint64_t monotonic) const { return monotonic + m_clock_offset; }
    std::uint32_t thread_id() const;
    /// Add the records of a device's context and a stream when they are first seen.
    void note_stream(int device, std::uint32_t stream);
    void add_external(std::uint32_t correlation);
    void add_call(CUpti_ActivityKind kind, std::uint32_t id, const CallRecord& record);
    void add_synchronization(const CallRecord& record);
    void add_copy(const OperationRecord& record);
    void add_fill(const OperationRecord& record);
    void add_kernel(const OperationRecord& record);
    /// Add the driver's launch by a library that does not use the runtime, such as cuFFT.
    void add_library_launch(const OperationRecord& record);
    void add_graph_traces();

    mutable std::mutex m_mutex;
    ActivityBuffers m_buffers;
    std::set<CUpti_ActivityKind> m_kinds;
    std::set<std::pair<CUpti_ActivityKind, std::uint32_t>> m_calls;
    CUpti_TimestampCallbackFunc m_clock = nullptr;
    std::uint64_t m_clock_offset = 0;
    bool m_system_thread_ids = false;
    std::int64_t m_grids = 0;
    std::set<int> m_contexts;
    std::set<std::pair<int, std::uint32_t>> m_streams;
    std::set<std::string> m_names;                               ///< of kernels; records point to them
    std::map<std::uint32_t, CUpti_ActivityGraphTrace2> m_graphs; ///< by correlation id
    CUpti_CallbackFunc m_callback = nullptr;
    void* m_callback_data = nullptr;
    std::string m_subscriber;
    std::set<CUpti_CallbackId> m_callbacks;
};

} // namespace cuda_simulator
