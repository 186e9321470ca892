// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/run_report.h"

#include "spng/core/unit_text.h"
#include "spng/instrument/background_thread.h"
#include "spng/instrument/page_faults.h"
#include "spng/instrument/report/machine.h"
#include "spng/instrument/report/steady_state.h"
#include "spng/instrument/report/text_table.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace spng::instrument {
namespace {

/// Group the meters by name, in the order of first appearance.
std::vector<std::vector<NodeMeter*>> by_name(const std::vector<NodeMeter*>& meters) {
    std::vector<std::vector<NodeMeter*>> groups;
    std::map<std::string, std::size_t> known;
    for (NodeMeter* const meter : meters) {
        const auto [found, is_new] = known.emplace(meter->identity().text(), groups.size());
        if (is_new) {
            groups.emplace_back();
        }
        groups[found->second].push_back(meter);
    }
    return groups;
}

NodeStatistics statistics_of(const std::vector<NodeMeter*>& copies) {
    NodeStatistics result;
    result.node = copies.front()->identity();
    for (NodeMeter* const meter : copies) {
        auto& share = result.shares.emplace_back();
        for (const auto& call : meter->calls()) {
            ++share.calls;
            share.wall += call.wall;
            result.calls.push_back(call);
        }
        for (const auto& [name, times] : meter->operations()) {
            result.operations[name] += times;
        }
    }
    std::sort(result.calls.begin(), result.calls.end(),
              [](const CallRecord& left, const CallRecord& right) { return left.start < right.start; });
    for (const auto& call : result.calls) {
        result.wall += call.wall;
        result.own_wall += call.wall - call.nested_wall;
        result.cpu += call.cpu;
        if (call.device != not_measured) {
            result.device = std::max<std::int64_t>(result.device, 0) + call.device;
        }
        result.bytes_in += call.bytes_in;
        result.bytes_out += call.bytes_out;
        result.leaf_operations += call.leaf_operations;
        result.cpu_peak = std::max(result.cpu_peak, call.cpu_peak);
        result.device_peak = std::max(result.device_peak, call.device_peak);
        result.failed += call.failed ? 1 : 0;
    }
    return result;
}

std::string time_or_dash(std::int64_t nanoseconds) {
    return nanoseconds == not_measured ? "-" : format_nanoseconds(nanoseconds);
}

std::string per_call(std::uint64_t sum, std::size_t calls) {
    const double mean = static_cast<double>(sum) / static_cast<double>(calls);
    return format_fixed(mean, sum % calls == 0 ? 0 : 1);
}

std::string bytes_per_call(std::uint64_t sum, std::size_t calls) {
    return format_bytes(static_cast<std::int64_t>(sum / calls));
}

} // namespace

std::string device_text(const std::vector<c10::Device>& devices) {
    std::string text;
    for (const auto& device : devices) {
        text += (text.empty() ? "" : ",") + device.str();
    }
    return text;
}

std::int64_t NodeStatistics::steady_mean_wall() const {
    if (calls.size() < 2) {
        return not_measured;
    }
    return (wall - first_wall()) / static_cast<std::int64_t>(calls.size() - 1);
}

std::int64_t NodeStatistics::median_wall() const {
    std::vector<std::int64_t> walls;
    for (const auto& call : calls) {
        walls.push_back(call.wall);
    }
    std::sort(walls.begin(), walls.end());
    const auto middle = walls.size() / 2;
    return walls.size() % 2 == 1 ? walls[middle] : (walls[middle - 1] + walls[middle]) / 2;
}

RunReport::RunReport(RunDescription description, const std::vector<NodeMeter*>& meters)
    : m_description(std::move(description)) {
    std::set<std::uint64_t> events;
    for (const auto& copies : by_name(meters)) {
        NodeStatistics node = statistics_of(copies);
        if (node.calls.empty()) {
            continue;
        }
        for (const auto& call : node.calls) {
            events.insert(call.event);
        }
        const std::int64_t start = node.calls.front().start;
        m_startup = m_startup == not_measured ? start : std::min(m_startup, start);
        m_nodes.push_back(std::move(node));
    }
    std::stable_sort(
        m_nodes.begin(), m_nodes.end(),
        [](const NodeStatistics& left, const NodeStatistics& right) { return left.wall > right.wall; });
    m_events = events.size();
    m_process_peak = process_peak_bytes();
    for (const c10::Device& device : m_description.devices) {
        m_device_peak = std::max(m_device_peak, device_peak_bytes(device));
    }
    m_page_faults = minor_page_faults();
    m_page_faults_per_later_event = page_faults_per_later_event();
    m_background_cpu = background_cpu_by_name();
}

std::string RunReport::heading() const {
    const auto& run = m_description;
    std::string text = "spng " + run.version + (run.commit.empty() ? "" : " (" + run.commit + ")");
    const auto add = [&text](const std::string& part) { text += part.empty() ? "" : ", " + part; };
    add(run.torch_version.empty() ? "" : "torch " + run.torch_version);
    add(device_text(run.devices) + (run.device_name.empty() ? "" : " " + run.device_name));
    add(run.engine);
    add(run.graph_threads > 1 ? std::to_string(run.graph_threads) + " graph threads" : "");
    add(std::to_string(run.intra_op_threads) +
        (run.intra_op_threads == 1 ? " thread per operation" : " threads per operation"));
    add(run.precision);
    return text + "\n";
}

std::string RunReport::notes() const {
    const auto& run = m_description;
    std::string text = std::to_string(m_events) + (m_events == 1 ? " event" : " events") + " in " +
                       format_nanoseconds(static_cast<std::int64_t>(run.wall_seconds * 1e9));
    if (m_startup != not_measured) {
        text += ", first node called " + format_nanoseconds(m_startup) + " after the program started";
    }
    text += ", process peak " + format_bytes(m_process_peak);
    if (!run.devices.front().is_cpu()) {
        text += ", device peak " + (m_device_peak == not_measured ? "n/a" : format_bytes(m_device_peak));
    }
    if (const SteadyState steady = steady_state(m_nodes); steady.with_files != not_measured) {
        text += "\nan event after the first: " + format_nanoseconds(steady.with_files) + " with files, " +
                format_nanoseconds(steady.without_files) + " the calls between source and sink";
    }
    for (const auto& [name, time] : m_background_cpu) {
        text += "; " + name + " beside them: " + format_nanoseconds(time) + " of processor time";
    }
    text += "\nlater: mean wall time after the first call; share: of wall time, without nested calls (+)\n";
    text += run.mode.cpu_clock == CpuClock::Process ? "cpu: all threads of the process"
                                                    : "cpu: the calling thread, without its helpers";
    text += "; in, out, operations: per call; memory: growth of tensor memory in a call\n";
    if (run.mode.synchronise) {
        text += "SYNCHRONISING: wire-cell waited for the device around every node call, so the run was "
                "slower than usual\n";
    }
    return text;
}

std::string RunReport::table() const {
    const bool on_device = !m_description.devices.front().is_cpu();
    NodeStatistics total;
    for (const auto& node : m_nodes) {
        total.own_wall += node.own_wall;
        total.leaf_operations += node.leaf_operations;
        for (const auto& call : node.calls) {
            if (call.depth > 0) {
                continue; // its time is in the call that it is nested in
            }
            total.wall += call.wall;
            total.cpu += call.cpu;
            if (call.device != not_measured) {
                total.device = std::max<std::int64_t>(total.device, 0) + call.device;
            }
        }
    }
    TextTable table({"node", "calls", "first", "later", "total", "share", "cpu", "device", "in", "out",
                     "operations", "memory"});
    for (const auto& node : m_nodes) {
        const auto calls = node.calls.size();
        const double share =
            total.own_wall > 0 ? static_cast<double>(node.own_wall) / static_cast<double>(total.own_wall) : 0;
        const std::int64_t memory = on_device ? node.device_peak : node.cpu_peak;
        table.add_row({(node.is_nested() ? "+ " : "") + node.node.text(), std::to_string(calls),
                       format_nanoseconds(node.first_wall()), time_or_dash(node.steady_mean_wall()),
                       format_nanoseconds(node.wall), format_fixed(100 * share, 1) + " %",
                       format_nanoseconds(node.cpu), time_or_dash(node.device),
                       bytes_per_call(node.bytes_in, calls), bytes_per_call(node.bytes_out, calls),
                       per_call(node.leaf_operations, calls),
                       memory == not_measured ? "n/a" : format_bytes(memory)});
    }
    table.add_rule();
    table.add_row({"all nodes", "", "", "", format_nanoseconds(total.wall), "100.0 %",
                   format_nanoseconds(total.cpu), time_or_dash(total.device), "", "",
                   m_events == 0 ? "" : per_call(total.leaf_operations, m_events) + " per event", ""});
    return heading() + table.text() + notes() + m_description.input.text();
}

} // namespace spng::instrument
