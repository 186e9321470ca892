// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/run_report.h"

#include "spng/instrument/background_thread.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/page_faults.h"
#include "spng/instrument/report/machine.h"

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

} // namespace

std::string device_text(const std::vector<c10::Device>& devices) {
    std::string text;
    for (const auto& device : devices) {
        text += (text.empty() ? "" : ",") + device.str();
    }
    return text;
}

ReportOrigin begin_report() {
    forget_start_up();
    forget_page_faults_of_events();
    return {wall_nanoseconds() - process_start_nanoseconds(), minor_page_faults(), background_cpu_by_name()};
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
    const ReportOrigin& origin = m_description.origin;
    std::set<std::uint64_t> events;
    for (const auto& copies : by_name(meters)) {
        NodeStatistics node = statistics_of(copies);
        if (node.calls.empty()) {
            continue;
        }
        for (CallRecord& call : node.calls) {
            events.insert(call.event);
            call.start -= origin.time;
        }
        const std::int64_t start = node.calls.front().start;
        m_startup = m_startup == not_measured ? start : std::min(m_startup, start);
        m_nodes.push_back(std::move(node));
    }
    std::stable_sort(
        m_nodes.begin(), m_nodes.end(),
        [](const NodeStatistics& left, const NodeStatistics& right) { return left.wall > right.wall; });
    m_events = events.size();
    for (StartUpRow& phase : m_description.start_up) {
        phase.start -= origin.time;
    }
    std::erase_if(m_description.start_up,
                  [this](const StartUpRow& phase) { return phase.start >= m_startup; });
    m_process_peak = process_peak_bytes();
    for (const c10::Device& device : m_description.devices) {
        m_device_peak = std::max(m_device_peak, device_peak_bytes(device));
    }
    m_page_faults = minor_page_faults() - origin.page_faults;
    m_page_faults_per_later_event = page_faults_per_later_event();
    m_background_cpu = background_cpu_by_name();
    for (const auto& [name, before] : origin.background_cpu) {
        m_background_cpu[name] -= before;
    }
}

} // namespace spng::instrument
