#pragma once
// What a run cost, node by node: as a table for people and as JSON for programs (schema in
// run_report_json.cxx).

#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/report/input_report.h"

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spng::instrument {

/// What the report says about the run beside its measurements. Strings may be empty.
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
    double wall_seconds = 0; ///< from before the first to after the last event
    InputReport input;       ///< empty where no component looks at the input
    nlohmann::json settings; ///< all job arguments and settings, put into the JSON as they are
    nlohmann::json provenance =
        nlohmann::json::object(); ///< what ran: configuration and data files, as it is
};

/// All calls of one node and what follows from them. Times in nanoseconds, memory in bytes.
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
    std::int64_t cpu_peak = 0; ///< the highest of all calls
    std::int64_t device_peak = not_measured;
    std::uint64_t failed = 0;

    /// What each copy of the node did, in the order of the devices; one element for a node without copies.
    struct Share {
        std::uint64_t calls = 0;
        std::int64_t wall = 0;
    };
    std::vector<Share> shares;

    std::int64_t first_wall() const { return calls.front().wall; }
    /// Mean wall time after the first call, which also pays for what is prepared at first use; not_measured
    /// when there was only one.
    std::int64_t steady_mean_wall() const;
    std::int64_t median_wall() const;
    bool is_nested() const { return calls.front().depth > 0; }
};

/// "cuda:0,cuda:1".
std::string device_text(const std::vector<c10::Device>& devices);

class RunReport {
public:
    /// Takes the measurements of all meters, waiting for the device to finish. Call it after the run; nodes
    /// that were never called are left out. Meters of one name, those of the copies of a node on several
    /// devices, become one row.
    RunReport(RunDescription description, const std::vector<NodeMeter*>& meters);

    /// By wall time, the slowest first.
    const std::vector<NodeStatistics>& nodes() const { return m_nodes; }
    /// Number of distinct events that any node was called for.
    std::uint64_t events() const { return m_events; }

    /// The per-node table with a header and notes.
    /// @param with_operations  also list the ATen operators of each node
    std::string table(bool with_operations = false) const;

    nlohmann::json json() const;

    /// The JSON in a file that appears under its name only when it is complete; devices, pipes and links are
    /// written in place. Throws Error(Output).
    void write_json(const std::filesystem::path& path) const;

private:
    std::string heading() const;
    std::string notes() const;

    RunDescription m_description;
    std::vector<NodeStatistics> m_nodes;
    std::uint64_t m_events = 0;
    std::int64_t m_startup = not_measured;
    std::int64_t m_process_peak = 0;
    std::int64_t m_device_peak = not_measured;
    std::int64_t m_page_faults = 0;
    double m_page_faults_per_later_event = not_measured;
    std::map<std::string, std::int64_t> m_background_cpu; ///< ns, by what a thread did
};

} // namespace spng::instrument
