// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/metrics.h"

#include "spng/instrument/clock.h"
#include "spng/kserve/status_codes.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace spng {
namespace {

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

void heading(std::string& text, const std::string& name, const std::string& type, const std::string& help) {
    text += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
}

void add_to(kserve::ModelStatistics::Duration& sum, double seconds) {
    ++sum.count;
    sum.ns += static_cast<std::uint64_t>(seconds * 1e9);
}

} // namespace

void Histogram::add(double seconds) {
    const auto limit = std::lower_bound(limits.begin(), limits.end(), seconds);
    ++m_counts[static_cast<std::size_t>(limit - limits.begin())];
    m_sum += seconds;
}

void Histogram::write(std::string& text, const std::string& name, const std::string& labels) const {
    const std::string comma = labels.empty() ? "" : ",";
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < m_counts.size(); ++i) {
        count += m_counts[i];
        const std::string limit = i < limits.size() ? number(limits[i]) : "+Inf";
        text += name + "_bucket{" + labels + comma + "le=\"" + limit + "\"} " + std::to_string(count) + "\n";
    }
    const std::string braces = labels.empty() ? "" : "{" + labels + "}";
    text += name + "_sum" + braces + " " + number(m_sum) + "\n";
    text += name + "_count" + braces + " " + std::to_string(count) + "\n";
}

void RequestMetrics::add(const std::string& model, const std::string& transport, const kserve::Status* status,
                         double seconds, double waited, double run) {
    const std::lock_guard lock(m_mutex);
    ++m_counts[{model, transport, status == nullptr ? "ok" : kserve::codes_of(*status).name}];
    Times& times = m_times[model];
    times.total.add(seconds);
    add_to(status == nullptr ? times.sums.success : times.sums.fail, seconds);
    if (status == nullptr) {
        times.sums.last_ms = static_cast<std::uint64_t>(instrument::utc_milliseconds());
    }
    if (waited >= 0 && run >= 0 && status == nullptr) {
        times.waited.add(waited);
        times.run.add(run);
        add_to(times.sums.queue, waited);
        add_to(times.sums.run, run);
    }
}

kserve::ModelStatistics RequestMetrics::statistics(const std::string& model) const {
    const std::lock_guard lock(m_mutex);
    const auto found = m_times.find(model);
    kserve::ModelStatistics sums = found == m_times.end() ? kserve::ModelStatistics{} : found->second.sums;
    sums.name = model;
    return sums;
}

std::string RequestMetrics::text(const std::vector<Gauge>& gauges) const {
    std::string text;
    for (const Gauge& gauge : gauges) {
        heading(text, gauge.name, "gauge", gauge.help);
        text += std::string(gauge.name) + " " + number(gauge.value) + "\n";
    }
    const std::lock_guard lock(m_mutex);
    heading(text, "spng_requests_total", "counter",
            "Requests to the models with a result, by kind of result.");
    for (const auto& [key, count] : m_counts) {
        const auto& [model, transport, result] = key;
        text += "spng_requests_total{model=\"" + model + "\",transport=\"" + transport + "\",result=\"" +
                result + "\"} " + std::to_string(count) + "\n";
    }
    const auto write = [&](const char* name, const char* help, Histogram Times::*histogram) {
        heading(text, name, "histogram", help);
        for (const auto& [model, times] : m_times) {
            (times.*histogram).write(text, name, "model=\"" + model + "\"");
        }
    };
    write("spng_request_seconds", "From the arrival of a request to its result.", &Times::total);
    write("spng_queue_seconds", "In the queue, of frames that were processed.", &Times::waited);
    write("spng_run_seconds", "In the chain, of frames that were processed.", &Times::run);
    return text;
}

double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    double total = 0, resident = 0;
    statm >> total >> resident;
    return statm ? resident * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

} // namespace spng
