// SPDX-License-Identifier: Apache-2.0
#pragma once
// The cost of a run by node: a table for people, JSON for programs (schema in run_report_json.cxx).

#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/report/input_report.h"
#include "spng/instrument/report/text_table.h"
#include "spng/instrument/start_up.h"

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spng::instrument {

/// The time and the counts of the process at which a report begins. The first report of a process begins with it.
struct ReportOrigin {
    std::int64_t time = 0; ///< since the process was started [ns]
    std::int64_t page_faults = 0;
    std::map<std::string, std::int64_t> background_cpu; ///< by task [ns]
};

/// Begin the report of another run of this process: phases of the start-up and page faults of events start anew.
ReportOrigin begin_report();

/// Description of the run, reported beside its measurements. Strings may be empty.
struct RunDescription {
    std::string version; ///< of this program
    std::string commit;
    std::string build; ///< mode and compiler
    std::string torch_version;
    std::vector<c10::Device> devices{c10::kCPU}; ///< at least one
    std::string device_name;                     ///< of the hardware, where known
    std::string engine;
    std::string precision; ///< "exact float32"
    int graph_threads = 1;
    int intra_op_threads = 1;
    MeterMode mode;
    double wall_seconds = 0;                         ///< from before the first to after the last event
    std::optional<std::uint64_t> completed_events{}; ///< empty: unknown, the run has not ended
    std::vector<StartUpRow> start_up;
    ReportOrigin origin;
    std::string about;                                  ///< the job: detector, anodes, filters, network
    std::vector<std::string> files_read, files_written; ///< by nodes
    InputReport input;                                  ///< empty where no component looks at the input
    nlohmann::json settings; ///< all job arguments and settings, copied into the JSON
    nlohmann::json provenance =
        nlohmann::json::object(); ///< configuration and data files, copied into the JSON
};

/// All calls of one node and their statistics. Times in nanoseconds, memory in bytes.
struct NodeStatistics {
    NodeIdentity node;
    std::vector<CallRecord> calls; ///< in the order of their starts, at least one
    std::map<std::string, std::uint64_t> operations;

    std::int64_t wall = 0;
    std::int64_t own_wall = 0; ///< without nested calls
    std::int64_t cpu = 0;
    std::int64_t device = not_measured; ///< of the calls where it was measured
    std::uint64_t bytes_in = 0;
    std::uint64_t bytes_out = 0;
    std::uint64_t leaf_operations = 0;
    std::int64_t cpu_peak = not_measured; ///< the highest of all calls
    std::int64_t device_peak = not_measured;
    std::uint64_t failed = 0;

    /// Work of one copy of the node. `shares` has the order of the devices, one element for a node without copies.
    struct Share {
        std::uint64_t calls = 0;
        std::int64_t wall = 0;
    };
    std::vector<Share> shares;

    std::int64_t first_wall() const { return calls.front().wall; }
    /// Return the mean wall time without the first call, which includes preparations at first use; not_measured
    /// for a single call.
    std::int64_t steady_mean_wall() const;
    std::int64_t median_wall() const;
    bool is_nested() const { return calls.front().depth > 0; }
};

/// Format devices as "cuda:0,cuda:1".
std::string device_text(const std::vector<c10::Device>& devices);

class RunReport {
public:
    /// Take the measurements of all meters, after waiting for the device. Call it after the run. Omit nodes
    /// without calls. Merge meters of one name, those of a node's copies on several devices, into one row.
    RunReport(RunDescription description, const std::vector<NodeMeter*>& meters);

    /// Return the nodes by wall time, the slowest first.
    const std::vector<NodeStatistics>& nodes() const { return m_nodes; }
    /// Return the number of distinct events in all calls.
    std::uint64_t events() const { return m_events; }

    /// Return the table of nodes with a heading, the phases of the start-up, and notes.
    /// @param width  of the lines; a narrow table has fewer columns and cuts long names
    std::string table(std::size_t width = unlimited_width) const;

    nlohmann::json json() const;

    /// Write the JSON to a file that appears under its name only when it is complete. Write devices, pipes and
    /// links in place.
    /// @throws Error(Output)
    void write_json(const std::filesystem::path& path) const;

private:
    std::string heading(std::size_t width) const;
    std::string start_up_table(std::size_t width) const;
    std::string notes(bool all_columns) const;

    RunDescription m_description;
    std::vector<NodeStatistics> m_nodes;
    std::uint64_t m_events = 0;
    std::int64_t m_startup = not_measured; ///< from the origin to the first call [ns]
    std::int64_t m_process_peak = 0;
    std::int64_t m_device_peak = not_measured;
    std::int64_t m_page_faults = 0;
    double m_page_faults_per_later_event = not_measured;
    std::map<std::string, std::int64_t> m_background_cpu; ///< by task [ns]
};

} // namespace spng::instrument
