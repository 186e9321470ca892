// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cost of every node call, always measured: wall, CPU and device time, bytes in and out, ATen leaf operations
// (operator_traits.h) and memory (allocation.h). A call is also an NVTX range (node_range.h).
//
// The time of a nested call (of a service) counts for both calls; leaf operations count for the innermost call only.

#include "spng/instrument/clock.h"
#include "spng/instrument/not_measured.h"

#include <c10/core/Device.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace spng::instrument {

struct NodeIdentity {
    std::string type;     ///< registered type, "SPNGDecon"
    std::string instance; ///< may be empty
    std::string kind;     ///< category and colour of its ranges: "decon", "filter", ...

    /// "type:instance", or "type" for a node without instance name.
    std::string text() const { return instance.empty() ? type : type + ":" + instance; }
};

/// Measurement options, equal for all calls of a run.
struct MeterMode {
    CpuClock cpu_clock = CpuClock::Process;
    /// Wait for the device at the begin and end of each call, so that wall time is device time. This changes the
    /// timing of the device's work; reports note the mode.
    bool synchronise = false;
    /// False while a stream is captured into a CUDA graph, where timing events must not be recorded.
    bool device_events = true;
    /// Keep the records of the latest calls only, at least this many of each node; 0: of all. For jobs without end.
    std::size_t kept_calls = 0;
};

/// One call. Times in nanoseconds.
struct CallRecord {
    std::uint64_t event = 0;
    int depth = 0;          ///< 0, or how many calls this one is nested in
    bool failed = false;    ///< left by an exception
    std::int64_t start = 0; ///< since the process was started
    std::int64_t wall = 0;
    std::int64_t nested_wall = 0; ///< the part of wall that was in nested calls
    std::int64_t cpu = 0;
    std::int64_t device = not_measured; ///< from first to last work on the current stream
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t leaf_operations = 0;
    std::int64_t cpu_allocated = not_measured; ///< tensor memory, bytes; this call's thread only
    std::int64_t cpu_peak = not_measured;      ///< highest growth of live tensor memory since the call began
    std::int64_t device_allocated = not_measured;
    std::int64_t device_peak = not_measured;
};

/// One per node of a graph. Thread-safe; calls may overlap. Must outlive its calls.
class NodeMeter {
public:
    explicit NodeMeter(NodeIdentity identity);
    ~NodeMeter();
    NodeMeter(const NodeMeter&) = delete;
    NodeMeter& operator=(const NodeMeter&) = delete;

    const NodeIdentity& identity() const;

    /// All calls that ended, in the order of their ends. Waits for the device to finish them.
    std::vector<CallRecord> calls();

    /// Forget the calls and operations of the past. Waits for the device to finish the calls.
    void clear();

    /// How often each ATen operator was counted as a leaf operation, over all calls that ended.
    std::map<std::string, std::uint64_t> operations() const;

    class Call;

private:
    struct State;
    std::unique_ptr<State> m_state;
};

/// A call, from construction to destruction, both on the same thread. Costs about a microsecond on the CPU.
/// Measures, and never throws if it cannot measure.
class NodeMeter::Call {
public:
    Call(NodeMeter& meter, std::uint64_t event, c10::Device device, MeterMode mode);
    ~Call();
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    void count_bytes_in(std::size_t bytes);
    void count_bytes_out(std::size_t bytes);

    /// Leave no record: this was an idle poll, such as asking a source past its end.
    void discard();

    struct State;

private:
    std::unique_ptr<State> m_state;
};

/// The innermost call that runs on this thread.
struct CurrentCall {
    const NodeIdentity* node = nullptr; ///< null outside of calls
    std::uint64_t event = 0;
};
CurrentCall current_call() noexcept;

} // namespace spng::instrument
