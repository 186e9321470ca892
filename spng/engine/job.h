#pragma once
// A job: the components of a configuration, their validated graph, and its run by one of the engines.

#include "spng/core/component.h"
#include "spng/core/error.h"
#include "spng/engine/memory_plan.h"
#include "spng/graph/graph.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/report/input_report.h"
#include "spng/io/data_file.h"
#include "spng/io/file_user.h"

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
class DeviceReplicas;
struct EngineConfig;
struct Replica;

struct RunOptions {
    int graph_threads = 0;    ///< TbbFlow: threads of the graph; 0 leaves it to the configuration
    bool skip_failed = false; ///< --on-error skip: leave out an event that fails and go on
    instrument::MeterMode meter_mode{};
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
    /// @param app         which engine to run where the configuration names several; "": the one it names
    /// Throws Error(Configuration).
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

    const Graph& graph() const { return *m_graphs.front(); }
    enum class MissingInputs { rejected, left_out };
    /// Files that components read and write by their configurations. Throws Error(Configuration) for an input
    /// that does not exist, unless such inputs are left out.
    std::vector<UsedFile> used_files(MissingInputs missing = MissingInputs::rejected) const;
    /// Static inputs of all components (networks, wires, responses, noise), each file once; after prepare().
    std::vector<DataFile> data_files() const;
    /// What the job will take, before prepare() as after it.
    const MemoryPlan& memory_plan() const { return m_memory_plan; }
    /// What is done at the same time within the job's budget; before prepare() without what a device has
    /// free. Throws as choose_within.
    MemoryChoice memory_choice() const;
    /// Plan and choice for people.
    std::string memory_text() const;

    /// The devices that the configuration asks for, one name per replica. Throws as replica_devices.
    std::vector<std::string> asked_devices() const;
    /// Of the replicas, in their order; after prepare().
    std::vector<c10::Device> devices() const;
    /// Job-wide settings as they came out (device, precision, engine, threads, ...), for reports.
    nlohmann::json settings(const RunOptions& options) const;
    /// Of nodes and of services that measure themselves; after prepare().
    std::vector<instrument::NodeMeter*> meters() const;
    /// Findings of all components that look at the input; after run().
    instrument::InputReport input_report() const;

private:
    Context& context_of(Environment& environment) const;
    const Context& context() const; ///< of the first replica
    int graph_threads(const RunOptions& options) const;
    /// All nodes are finished, whatever one of them throws; the first error is thrown at the end.
    void finish_nodes();

    /// Find out how much memory there is, and let engine and networks work within it.
    void keep_within_budget();
    nlohmann::json memory_json() const;
    /// Bytes on each device, and of each replica where several are on one device; 0: no limit.
    std::int64_t budget() const;
    std::int64_t replica_budget() const;

    /// The copies of the graph beside the first, one for each further device.
    void make_replicas(const std::vector<std::string>& devices);
    std::vector<Replica> replicas() const;
    /// What the engines run in place of replicas(): tried before the first event, with the device section as one
    /// node where that is asked for.
    void make_device_replicas(const RunOptions& options);
    /// By the configuration and the driver, so also before prepare().
    bool works_on_cpu() const;
    /// Of each replica.
    int events_in_flight() const;

    std::string m_source;
    nlohmann::json m_components; ///< for the replicas
    /// Of each replica; the first has all nodes, the others those that are not shared.
    std::vector<std::unique_ptr<Environment>> m_environments;
    std::vector<std::unique_ptr<Graph>> m_graphs; ///< of each replica
    MemoryPlan m_memory_plan;
    std::optional<MemoryPlan> m_window_memory_plan; ///< where long readouts are cut into windows
    std::int64_t m_budget = 0;                      ///< bytes on each device; 0: no limit
    std::int64_t m_free = -1; ///< bytes on the device that has least, when the job was prepared
    std::string m_engine;     ///< "Pgrapher" or "TbbFlow"
    std::unique_ptr<EngineConfig> m_engine_config;
    std::unique_ptr<DeviceReplicas>
        m_device_replicas; ///< after prepare(); goes first, as it refers to the nodes
};

} // namespace spng
