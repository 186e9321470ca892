// SPDX-License-Identifier: Apache-2.0
#pragma once
// A job: the components of a configuration, their validated graph, and its run by one of the engines.

#include "spng/core/component.h"
#include "spng/core/error.h"
#include "spng/engine/body/run_options.h"
#include "spng/graph/graph.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/report/input_report.h"
#include "spng/io/data_file.h"
#include "spng/io/file_user.h"
#include "spng/job/memory_plan.h"

#include <c10/core/Device.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

class Context;
class DeviceReplicas;
class DeviceWarnings;
struct EngineConfig;
struct Replica;

/// Members are defined in job.cxx (build, prepare, run), job_restart.cxx, job_replicas.cxx, job_memory.cxx and job_report.cxx.
class Job {
public:
    /// Build and validate: component types, keys, ports, edges. Opens neither data files nor devices.
    /// @param components  the flat array of {type, name, data} to which a configuration evaluates
    /// @param source      the configuration file, named in errors
    /// @param app         the engine to run; "": the one of the configuration
    /// @throws Error(Configuration)
    Job(const nlohmann::json& components, std::string source, const std::string& app = {});
    ~Job();

    /// Load data files, build spectra and tables, load models and choose the device.
    /// @throws Error
    void prepare(const RunOptions& options);

    /// Run to the end of the stream. Sinks finalize completed events also after a failure.
    /// @throws the Error of the first event (in input order) that failed, unless failed events are skipped
    RunSummary run(const RunOptions& options);
    /// Configure the nodes of a job that has run for other files, and open none.
    /// @param components  as for the construction; may differ from those of the last run in the data of nodes that read or
    ///                    write files in each run, not of those that read one in prepare()
    /// @throws Error(Configuration) naming the first component that may not differ. Call it again with other components
    void change_files(const nlohmann::json& components);
    /// Make the job ready to run on these files: open them, and let all nodes forget the events of the last run. Everything
    /// else stays warm: services, networks, devices.
    /// @throws Error of the files. The job can then change_files() again
    void restart();
    /// Return the share of the input that is done, 0 to 1; empty if it is not known. Thread-safe during run().
    std::optional<double> share_done() const;

    /// Write the graph in Graphviz' language: nodes coloured by kind, edges labelled with ports.
    std::string dot() const;

    const Graph& graph() const { return *m_graphs.front(); }
    /// The components of the first replica.
    const Environment& environment() const { return *m_environments.front(); }
    /// Return one line about the job, as its configuration has it for reports.
    const std::string& about() const;
    enum class MissingInputs { rejected, left_out };
    /// List the files that components read and write, from their configurations.
    /// @throws Error(Configuration) for an input that does not exist, unless such inputs are left out
    std::vector<UsedFile> used_files(MissingInputs missing = MissingInputs::rejected) const;
    /// Look at what a run needs besides the configuration: prepare the services (detector files, networks, the device), and
    /// check the files that nodes read and write, without changing any. Instead of prepare().
    /// @param with_inputs  false: of the files of nodes check those that they write
    /// @return all errors that were found
    std::vector<Error> find_problems(bool with_inputs);
    /// Look at the names and folders of the outputs. prepare() begins with this.
    /// @throws Error for the first output that cannot be written
    void check_outputs() const;
    /// List the static inputs of all components (networks, wires, responses, noise), each file once. Call after
    /// prepare().
    std::vector<DataFile> data_files() const;
    /// The planned memory; available before prepare().
    const MemoryPlan& memory_plan() const { return m_memory_plan; }
    /// The concurrency within the budget of the job. Before prepare() the free memory of a device is unknown.
    /// @throws as choose_within()
    MemoryChoice memory_choice() const;
    /// Return the planned bytes of a replica with one event in flight, the network in one tile and no CUDA graphs. The
    /// event is a readout window of a long readout if the source makes such windows.
    std::int64_t bytes_with_one_event() const;
    /// Return true if bytes_with_one_event() fit each device. Call before prepare(). Opens the devices to read their
    /// memory, unless the configuration has a memory budget. True if a device cannot be used, which prepare() reports.
    bool fits_devices() const;
    /// Write plan and choice for people.
    std::string memory_text() const;

    /// The devices of the configuration, one name for each replica.
    /// @throws as replica_devices()
    std::vector<std::string> requested_devices() const;
    /// The devices of the replicas, in their order. Call after prepare().
    std::vector<c10::Device> devices() const;
    /// Effective settings of the job (device, precision, engine, threads, ...), after defaults and fallbacks.
    nlohmann::json settings(const RunOptions& options) const;
    /// Meters of all nodes and metered services. Call after prepare().
    std::vector<instrument::NodeMeter*> meters() const;
    /// Findings of all components that check the input. Call after run().
    instrument::InputReport input_report() const;

private:
    /// Call `visit` with each component that uses files, and its name.
    void for_each_file_user(const std::function<void(const FileUser&, const std::string&)>& visit) const;

    /// Make an environment in which each preparation is a phase of the start-up.
    static std::unique_ptr<Environment> make_environment();
    Context& context_of(Environment& environment) const;
    const Context& context() const; ///< of the first replica
    int graph_threads(const RunOptions& options) const;
    /// Threads inside one operation.
    int operation_threads(const RunOptions& options) const;
    /// Finish all nodes, then throw the first error.
    void finish_nodes();

    /// Read the free memory of the devices, and make engine and networks keep within the budget.
    void keep_within_budget();
    /// As memory_choice().
    /// @throws OutOfMemory if the budget is that of the free memory and one event exceeds it
    MemoryChoice choice_within_budget() const;
    nlohmann::json memory_json() const;
    /// Bytes on each device; 0: no limit.
    std::int64_t budget() const;
    /// Replicas on the device that has most.
    std::int64_t replicas_of_device() const;
    /// Bytes of each replica, if several share a device; 0: no limit.
    std::int64_t replica_budget() const;

    /// Copy the graph for each device after the first.
    void make_replicas(const std::vector<std::string>& devices);
    std::vector<Replica> replicas() const;
    /// Make the replicas that the engines run: warmed up, with the device section as one node where CUDA graphs
    /// are on.
    void make_device_replicas(const RunOptions& options);
    /// Whether the job runs on the CPU, by configuration and driver; available before prepare().
    bool works_on_cpu() const;
    /// Events in flight of each replica.
    int events_in_flight() const;
    /// CUDA graphs of each replica that can exist at the same time, without a limit of memory.
    int cuda_graphs() const;

    /// From prepare() to the end of run(). Declared first: the others may warn in their destructors.
    std::unique_ptr<DeviceWarnings> m_device_warnings;
    std::string m_source;
    nlohmann::json m_components; ///< for the replicas
    /// By replica. The first has all nodes, the others those that are not shared.
    std::vector<std::unique_ptr<Environment>> m_environments;
    std::vector<std::unique_ptr<Graph>> m_graphs; ///< by replica
    MemoryPlan m_memory_plan;
    std::optional<MemoryPlan> m_window_memory_plan; ///< if long readouts are cut into windows
    std::int64_t m_budget = 0;                      ///< bytes on each device; 0: no limit
    std::int64_t m_free = -1; ///< least free bytes of a device at prepare(); -1: unknown
    int m_max_graphs = 0;     ///< CUDA graphs of each replica that may exist at the same time
    std::string m_engine;     ///< "Pgrapher" or "TbbFlow"
    std::unique_ptr<EngineConfig> m_engine_config;
    /// Made by prepare(). Declared last: it refers to the nodes.
    std::unique_ptr<DeviceReplicas> m_device_replicas;
};

} // namespace spng
