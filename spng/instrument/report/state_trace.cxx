// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/state_trace.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/report/machine.h"
#include "spng/instrument/report_file.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace spng::instrument {
namespace {

using Json = nlohmann::json;

/// Name of a call. Calls of one node for the same event never overlap.
using CallName = std::pair<std::string, std::uint64_t>;

struct CallState {
    Json inputs = Json::array();
    Json outputs = Json::array();
    MemoryInUse memory;
};

Json measured(std::int64_t value) {
    return value == not_measured ? Json(nullptr) : Json(value);
}

Json tensor_json(const std::string& name, const at::Tensor& data) {
    return {{"name", name},
            {"shape", data.sizes().vec()},
            {"dtype", c10::toString(data.scalar_type())},
            {"device", data.device().str()}};
}

Json sparse_json(const std::string& name, const SparseSamples& samples) {
    return {{"name", name},
            {"shape", {samples.rows, samples.ticks}},
            {"dtype", c10::toString(samples.values.scalar_type())},
            {"device", samples.values.device().str()}};
}

Json tensors_json(const std::vector<TensorSetPtr>& sets) {
    Json tensors = Json::array();
    for (const auto& set : sets) {
        if (set != nullptr) {
            for (const auto& tensor : set->tensors()) {
                tensors.push_back(tensor.sparse() ? sparse_json(tensor.name, *tensor.sparse())
                                                  : tensor_json(tensor.name, tensor.data));
            }
        }
    }
    return tensors;
}

} // namespace

struct StateTrace::State {
    void add(const std::string& node, std::uint64_t event, CallState call);
    Json call_json(const NodeIdentity& node, const CallRecord& record) const;

    mutable std::mutex mutex;
    std::map<CallName, std::vector<CallState>> calls; ///< a service may be called several times for an event
    mutable std::map<CallName, std::size_t> told;     ///< number of calls already in the JSON
};

namespace {

std::mutex active_mutex;
std::atomic<StateTrace::State*> active{nullptr};

} // namespace

void StateTrace::State::add(const std::string& node, std::uint64_t event, CallState call) {
    const std::lock_guard lock(mutex);
    calls[{node, event}].push_back(std::move(call));
}

Json StateTrace::State::call_json(const NodeIdentity& node, const CallRecord& record) const {
    CallState call;
    if (!record.failed) {
        const CallName name{node.text(), record.event};
        const auto found = calls.find(name);
        if (found != calls.end()) {
            const std::size_t index = told[name]++;
            if (index < found->second.size()) {
                call = found->second[index];
            }
        }
    }
    const bool on_device = !call.memory.device.is_cpu();
    return {{"node", node.text()},
            {"kind", node.kind},
            {"event", record.event},
            {"depth", record.depth},
            {"failed", record.failed},
            {"start_ns", record.start},
            {"wall_ns", record.wall},
            {"cpu_ns", record.cpu},
            {"device_ns", measured(record.device)},
            {"memory",
             {{"device", call.memory.device.str()},
              {"call_allocated_bytes", measured(on_device ? record.device_allocated : record.cpu_allocated)},
              {"call_peak_bytes", measured(on_device ? record.device_peak : record.cpu_peak)},
              {"allocated_bytes", measured(call.memory.allocated)},
              {"reserved_bytes", measured(call.memory.reserved)}}},
            {"inputs", std::move(call.inputs)},
            {"outputs", std::move(call.outputs)}};
}

StateTrace::StateTrace() : m_state(std::make_unique<State>()) {
    const std::lock_guard lock(active_mutex);
    if (active != nullptr) {
        throw Error(ErrorKind::Internal, {.what = "two traces of states at the same time",
                                          .expected = "one StateTrace in a process at a time"});
    }
    active = m_state.get();
}

StateTrace::~StateTrace() {
    const std::lock_guard lock(active_mutex);
    active = nullptr;
}

Json StateTrace::json(const std::vector<NodeMeter*>& meters) const {
    std::vector<std::pair<const NodeIdentity*, CallRecord>> records;
    for (NodeMeter* const meter : meters) {
        for (const auto& record : meter->calls()) {
            records.emplace_back(&meter->identity(), record);
        }
    }
    std::stable_sort(records.begin(), records.end(), [](const auto& left, const auto& right) {
        return left.second.start < right.second.start;
    });
    const std::lock_guard lock(m_state->mutex);
    m_state->told.clear();
    auto calls = Json::array();
    for (const auto& [node, record] : records) {
        calls.push_back(m_state->call_json(*node, record));
    }
    return {{"schema", "spng-states-1"}, {"time", utc_time()}, {"calls", std::move(calls)}};
}

void StateTrace::write(const std::filesystem::path& path, const std::vector<NodeMeter*>& meters) const {
    write_report_file(path, json_text(json(meters), 1) + "\n", "--trace-states");
}

bool tracing_states() noexcept {
    return active.load(std::memory_order_relaxed) != nullptr;
}

void trace_state(const NodeIdentity& node, std::uint64_t event, c10::Device device,
                 const std::vector<TensorSetPtr>& inputs, const std::vector<TensorSetPtr>& outputs) {
    if (auto* const state = active.load(std::memory_order_acquire)) {
        state->add(node.text(), event, {tensors_json(inputs), tensors_json(outputs), memory_in_use(device)});
    }
}

void trace_state(const NodeIdentity& service, const TracedTensor& input, const TracedTensor& output) {
    if (auto* const state = active.load(std::memory_order_acquire)) {
        state->add(service.text(), current_call().event,
                   {nlohmann::json::array({tensor_json(input.name, input.data)}),
                    nlohmann::json::array({tensor_json(output.name, output.data)}),
                    memory_in_use(input.data.device())});
    }
}

} // namespace spng::instrument
