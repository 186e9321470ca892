// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/prometheus.h"

#include "spng/instrument/meter/node_totals.h"

#include <array>
#include <cstdio>
#include <optional>

namespace spng::instrument {
namespace {

using Value = std::optional<std::string>;

/// Format exactly: a double would round sums of nanoseconds.
Value seconds(std::int64_t nanoseconds) {
    if (nanoseconds == not_measured) {
        return std::nullopt;
    }
    char text[48];
    std::snprintf(text, sizeof text, "%lld.%09lld", static_cast<long long>(nanoseconds / 1'000'000'000),
                  static_cast<long long>(nanoseconds % 1'000'000'000));
    return text;
}

Value bytes(std::int64_t value) {
    return value == not_measured ? std::nullopt : Value(std::to_string(value));
}

struct Metric {
    const char* name;
    const char* type;
    const char* help;
    Value (*value)(const NodeTotals&);
};

constexpr std::array metrics{
    Metric{"spng_node_calls_total", "counter", "Calls that ended.",
           [](const NodeTotals& node) { return Value(std::to_string(node.calls)); }},
    Metric{"spng_node_failed_calls_total", "counter", "Calls that an error ended.",
           [](const NodeTotals& node) { return Value(std::to_string(node.failed)); }},
    Metric{"spng_node_wall_seconds_total", "counter", "Wall time in calls, with nested calls.",
           [](const NodeTotals& node) { return seconds(node.wall); }},
    Metric{"spng_node_cpu_seconds_total", "counter", "Processor time in calls.",
           [](const NodeTotals& node) { return seconds(node.cpu); }},
    Metric{"spng_node_device_seconds_total", "counter", "Device time of the calls that the device finished.",
           [](const NodeTotals& node) { return seconds(node.device); }},
    Metric{"spng_node_operations_total", "counter", "ATen leaf operations.",
           [](const NodeTotals& node) { return Value(std::to_string(node.leaf_operations)); }},
    Metric{"spng_node_in_bytes_total", "counter", "Bytes of input tensors.",
           [](const NodeTotals& node) { return Value(std::to_string(node.bytes_in)); }},
    Metric{"spng_node_out_bytes_total", "counter", "Bytes of output tensors.",
           [](const NodeTotals& node) { return Value(std::to_string(node.bytes_out)); }},
    Metric{"spng_node_host_peak_bytes", "gauge", "Highest growth of host tensor memory in a call.",
           [](const NodeTotals& node) { return bytes(node.cpu_peak); }},
    Metric{"spng_node_device_peak_bytes", "gauge", "Highest growth of device tensor memory in a call.",
           [](const NodeTotals& node) { return bytes(node.device_peak); }},
};

std::string escaped(const std::string& text) {
    std::string result;
    for (const char letter : text) {
        if (letter == '\\' || letter == '"') {
            result += '\\';
        }
        result += letter == '\n' ? ' ' : letter;
    }
    return result;
}

} // namespace

std::string prometheus_text(bool recording) {
    const auto nodes = all_totals();
    std::string text = "# HELP spng_recording Whether a profile is being recorded at this moment.\n"
                       "# TYPE spng_recording gauge\nspng_recording " +
                       std::string(recording ? "1\n" : "0\n");
    for (const Metric& metric : metrics) {
        std::string lines;
        for (const auto& node : nodes) {
            const Value value = node->calls == 0 ? std::nullopt : metric.value(*node);
            if (value) {
                lines += std::string(metric.name) + "{node=\"" + escaped(node->node.text()) + "\",type=\"" +
                         escaped(node->node.type) + "\"} " + *value + "\n";
            }
        }
        if (!lines.empty()) {
            text += "# HELP " + std::string(metric.name) + " " + metric.help + "\n# TYPE " + metric.name +
                    " " + metric.type + "\n" + lines;
        }
    }
    return text;
}

} // namespace spng::instrument
