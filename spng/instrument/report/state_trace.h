// SPDX-License-Identifier: Apache-2.0
#pragma once
// Trace of all node calls for programs: inputs, outputs, times and memory (--trace-states FILE.json).

#include "spng/core/tensor_set.h"
#include "spng/instrument/meter/node_meter.h"

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace spng::instrument {

/// Follows all node calls of the process from its construction to its destruction. One at a time:
/// constructing a second one throws Error(Internal). Costs microseconds per call.
class StateTrace {
public:
    StateTrace();
    ~StateTrace();
    StateTrace(const StateTrace&) = delete;
    StateTrace& operator=(const StateTrace&) = delete;

    /// Schema "spng-states-1": the calls that ended, in the order of their starts. Waits for the device.
    ///
    ///     {"schema": "spng-states-1", "time": UTC, "calls": [{
    ///         "node": "SPNGDecon:induction", "kind": "decon", "event": 0, "depth": 0, "failed": false,
    ///         "start_ns": after the start of the process, "wall_ns", "cpu_ns", "device_ns",
    ///         "memory": {"device": "cpu",
    ///                    "call_allocated_bytes": sum of its allocations on that device,
    ///                    "call_peak_bytes": highest growth during the call,
    ///                    "allocated_bytes": what tensors held after it,
    ///                    "reserved_bytes": what their allocator held; on the CPU the whole process},
    ///         "inputs": [{"name": "adc", "shape": [2, 800, 6000], "dtype": "Short", "device": "cpu"}],
    ///         "outputs": [...]}]}
    ///
    /// null is "not measured"; a call that failed has no outputs and no memory after it.
    /// @param meters  of the nodes and services to be told of
    nlohmann::json json(const std::vector<NodeMeter*>& meters) const;

    /// The JSON in a file that appears when it is complete. Throws Error(Output).
    void write(const std::filesystem::path& path, const std::vector<NodeMeter*>& meters) const;

    struct State;

private:
    std::unique_ptr<State> m_state;
};

/// Whether a trace is active. A load and a branch.
bool tracing_states() noexcept;

/// Add the tensors of a call that is about to end, and the memory of the device. Does nothing without a trace.
void trace_state(const NodeIdentity& node, std::uint64_t event, c10::Device device,
                 const std::vector<TensorSetPtr>& inputs, const std::vector<TensorSetPtr>& outputs);

/// The same of a service, which is called with single tensors from inside of a node call.
struct TracedTensor {
    std::string name;
    at::Tensor data;
};
void trace_state(const NodeIdentity& service, const TracedTensor& input, const TracedTensor& output);

} // namespace spng::instrument
