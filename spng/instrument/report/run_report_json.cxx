// SPDX-License-Identifier: Apache-2.0
// The JSON of --timing, schema "spng-timing-1". Names of times end in _ns or _seconds, of memory in _bytes; null means
// "not measured". A new field keeps the schema's version; a field with a new meaning raises it.

#include "spng/core/printable.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/instrument/report/machine.h"
#include "spng/instrument/report/run_report.h"
#include "spng/instrument/report/steady_state.h"
#include "spng/instrument/report_file.h"

namespace spng::instrument {
namespace {

using nlohmann::json;

json measured(std::int64_t value) {
    return value == not_measured ? json(nullptr) : json(value);
}

json call_json(const CallRecord& call) {
    return {{"event", call.event},
            {"depth", call.depth},
            {"failed", call.failed},
            {"start_ns", call.start},
            {"wall_ns", call.wall},
            {"nested_wall_ns", call.nested_wall},
            {"cpu_ns", call.cpu},
            {"device_ns", measured(call.device)},
            {"in_bytes", call.bytes_in},
            {"out_bytes", call.bytes_out},
            {"leaf_operations", call.leaf_operations},
            {"cpu_allocated_bytes", measured(call.cpu_allocated)},
            {"cpu_peak_bytes", measured(call.cpu_peak)},
            {"device_allocated_bytes", measured(call.device_allocated)},
            {"device_peak_bytes", measured(call.device_peak)}};
}

json phase_json(const StartUpRow& phase) {
    return {{"name", phase.name},
            {"depth", phase.depth},
            {"start_ns", phase.start},
            {"wall_ns", phase.wall},
            {"own_wall_ns", phase.own_wall}};
}

json node_json(const NodeStatistics& node) {
    json calls = json::array();
    for (const auto& call : node.calls) {
        calls.push_back(call_json(call));
    }
    json shares = json::array();
    for (const auto& share : node.shares) {
        shares.push_back({{"calls", share.calls}, {"wall_ns", share.wall}});
    }
    return {{"name", node.node.text()},
            {"type", node.node.type},
            {"instance", node.node.instance},
            {"kind", node.node.kind},
            {"calls", node.calls.size()},
            {"failed", node.failed},
            {"wall_ns", node.wall},
            {"own_wall_ns", node.own_wall},
            {"first_wall_ns", node.first_wall()},
            {"steady_mean_wall_ns", measured(node.steady_mean_wall())},
            {"median_wall_ns", node.median_wall()},
            {"cpu_ns", node.cpu},
            {"device_ns", measured(node.device)},
            {"in_bytes", node.bytes_in},
            {"out_bytes", node.bytes_out},
            {"leaf_operations", node.leaf_operations},
            {"cpu_peak_bytes", measured(node.cpu_peak)},
            {"device_peak_bytes", measured(node.device_peak)},
            {"operations", node.operations},
            {"per_device", std::move(shares)},
            {"per_call", std::move(calls)}};
}

} // namespace

nlohmann::json RunReport::json() const {
    const auto& run = m_description;
    const Machine machine = this_machine();
    const SteadyState steady = steady_state(m_nodes);
    nlohmann::json nodes = nlohmann::json::array();
    for (const auto& node : m_nodes) {
        nodes.push_back(node_json(node));
    }
    nlohmann::json start_up = nlohmann::json::array();
    for (const auto& phase : run.start_up) {
        start_up.push_back(phase_json(phase));
    }
    return {{"schema", "spng-timing-1"},
            {"time", utc_time()},
            {"program", {{"version", run.version}, {"commit", run.commit}, {"build", run.build}}},
            {"versions", {{"torch", run.torch_version}}},
            {"machine",
             {{"host", machine.host},
              {"system", machine.system},
              {"cpu", machine.cpu},
              {"cores", machine.cores}}},
            {"run",
             {{"device", device_text(run.devices)},
              {"device_name", run.device_name},
              {"engine", run.engine},
              {"precision", run.precision},
              {"graph_threads", run.graph_threads},
              {"intra_op_threads", run.intra_op_threads},
              {"synchronising", run.mode.synchronise},
              {"cpu_clock", run.mode.cpu_clock == CpuClock::Process ? "process" : "thread"},
              {"about", run.about},
              {"files_read", run.files_read},
              {"files_written", run.files_written},
              {"events", m_events},
              {"completed_events", run.completed_events.value_or(m_events)},
              {"wall_seconds", run.wall_seconds},
              {"startup_seconds", m_startup == not_measured
                                      ? nlohmann::json(nullptr)
                                      : nlohmann::json(1e-9 * static_cast<double>(m_startup))},
              {"event_with_files_ns", measured(steady.with_files)},
              {"event_without_files_ns", measured(steady.without_files)},
              {"background_cpu_ns", m_background_cpu},
              {"page_faults", m_page_faults},
              {"page_faults_per_later_event", m_page_faults_per_later_event < 0
                                                  ? nlohmann::json(nullptr)
                                                  : nlohmann::json(m_page_faults_per_later_event)},
              {"process_peak_bytes", m_process_peak},
              {"host_tensor_peak_bytes", measured(peak_cpu_bytes())},
              {"device_peak_bytes", measured(m_device_peak)}}},
            {"start_up", std::move(start_up)},
            {"input", run.input.json()},
            {"settings", run.settings},
            {"provenance", run.provenance},
            {"nodes", std::move(nodes)}};
}

void RunReport::write_json(const std::filesystem::path& path) const {
    write_report_file(path, json_text(json(), 1) + "\n", "--timing");
}

} // namespace spng::instrument
