#pragma once
// A job: the components of a configuration, their validated graph, and its run by one of the engines.

#include "spng/core/component.h"
#include "spng/core/error.h"
#include "spng/graph/graph.h"
#include "spng/instrument/node_meter.h"

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

class Context;
struct EngineConfig;
struct Lane;

struct RunOptions {
    int graph_threads = 0;    ///< TbbFlow: threads of the graph; 0 leaves it to the configuration
    bool skip_failed = false; ///< --on-error skip: leave out an event that fails and go on
    instrument::MeterMode meter_mode{};
    std::string memory_plan; ///< in a few words, for the error when memory ran out all the same
    /// Set by a signal handler to the signal's number; engines stop between node calls when it is not 0.
    const std::atomic<int>* stop_signal = nullptr;
};

struct SkippedEvent {
    std::uint64_t index;
    std::string reason; ///< the error block
};

struct RunSummary {
    std::uint64_t events_done = 0;
    std::vector<SkippedEvent> skipped;
    int stopped_by = 0; ///< the signal, 0 when the stream ended by itself
    /// Why no further event could be worked on, though failed events are skipped: the device was lost.
    std::optional<Error> device_error{};
};

class Job {
public:
    /// Build and validate: component types, keys, ports, edges. Cheap; touches neither data files nor
    /// devices.
    /// @param components  the flat array of {type, name, data} that a configuration evaluates to
    /// @param source      the configuration file, named in errors
    /// @param app         which engine component to run when the configuration names several ("" for the one
    /// it names) Throws Error(Configuration).
    Job(const nlohmann::json& components, std::string source, const std::string& app = {});
    ~Job();

    /// Load data files, build spectra and tables, load models, choose the device; sets the number of intra-op
    /// threads of the process. Throws Error.
    void prepare(const RunOptions& options);

    /// Run to the end of the stream. Completed events are made final whatever happens.
    /// Throws the Error of the first event (in input order) that failed, unless failed events are skipped.
    RunSummary run(const RunOptions& options);

    /// The graph in Graphviz' language: nodes coloured by kind, edges labelled with ports.
    std::string dot() const;

    const Graph& graph() const { return *m_graph; }
    /// Of the lanes, in their order; after prepare().
    std::vector<c10::Device> devices() const;
    /// Job-wide settings as they came out (device, precision, engine, threads, ...), for reports.
    nlohmann::json settings(const RunOptions& options) const;
    /// Of nodes and of services that measure themselves; after prepare().
    std::vector<instrument::NodeMeter*> meters() const;

private:
    const Context& context() const;
    int graph_threads(const RunOptions& options) const;
    /// All nodes are finished, whatever one of them throws; the first error is thrown at the end.
    void finish_nodes();

    /// The copies of the graph beside the first, one for each further device.
    void make_lanes(const std::vector<std::string>& devices);
    std::vector<Lane> lanes() const;

    std::string m_source;
    nlohmann::json m_components; ///< for the lanes
    Environment m_environment;   ///< of the first lane, with all nodes
    std::unique_ptr<Graph> m_graph;
    std::vector<std::unique_ptr<Environment>> m_further_environments;
    std::vector<std::unique_ptr<Graph>> m_further_graphs;
    std::string m_engine; ///< "Pgrapher" or "TbbFlow"
    std::unique_ptr<EngineConfig> m_engine_config;
};

} // namespace spng
