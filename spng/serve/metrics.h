// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of a server, in the text format 0.0.4 of Prometheus.

#include "spng/kserve/protocol.h"

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

namespace spng {

/// Counts of times by upper limit, as Prometheus has them.
class Histogram {
public:
    void add(double seconds);
    /// Append the lines of a metric.
    /// @param labels  "" or `model="pipeline"`
    void write(std::string& text, const std::string& name, const std::string& labels) const;

private:
    static constexpr std::array<double, 11> limits{0.001, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300};
    std::array<std::uint64_t, limits.size() + 1> m_counts{};
    double m_sum = 0;
};

/// A value that the server knows at the moment of the question.
struct Gauge {
    const char* name;
    const char* help;
    double value;
};

/// Thread-safe.
class RequestMetrics {
public:
    /// Count a request that has its result.
    /// @param status   null for a success
    /// @param seconds  from its arrival
    /// @param waited   [s]; negative: not measured
    /// @param run      likewise
    void add(const std::string& model, const std::string& transport, const kserve::Status* status,
             double seconds, double waited, double run);

    std::string text(const std::vector<Gauge>& gauges) const;
    kserve::ModelStatistics statistics(const std::string& model) const;

private:
    struct Times {
        Histogram total, waited, run;
        kserve::ModelStatistics sums{};
    };
    mutable std::mutex m_mutex;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t>
        m_counts;                         ///< by model, transport, result
    std::map<std::string, Times> m_times; ///< by model
};

/// Resident memory of this process [bytes]; 0 if /proc cannot be read.
double resident_bytes();

} // namespace spng
