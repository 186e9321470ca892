// SPDX-License-Identifier: Apache-2.0
#include "spng/job/job.h"

#include "spng/core/log/log.h"
#include "spng/device/context.h"
#include "spng/device/event_stream.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/device/operation_threads.h"
#include "spng/engine/engine.h"
#include "spng/engine/replicas.h"
#include "spng/graph/node.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/start_up.h"
#include "spng/job/device_replicas.h"
#include "spng/job/job_entries.h"

#include <algorithm>
#include <optional>

namespace spng {
namespace {

/// Report the loss of a device during the preparation instead of an error that it caused.
void throw_if_lost(const std::vector<Replica>& replicas, const Error& error) {
    if (error.kind() != ErrorKind::Device && error.kind() != ErrorKind::Internal) {
        return;
    }
    for (const Replica& replica : replicas) {
        if (const auto loss = loss_of(replica.device)) {
            throw Error(ErrorKind::Device,
                        {.what = "the device " + replica.device.str() + " stopped working",
                         .where = error.text().where,
                         .seen = *loss,
                         .expected = "a working device; no event was processed",
                         .hint = "see the system's log for the cause (dmesg | grep -i xid, nvidia-smi), or "
                                 "name other devices with -A device=..."});
        }
    }
}

void record_edges(const Graph& graph) {
    for (std::size_t id = 0; id < graph.edges().size(); ++id) {
        const auto& [tail, head] = graph.edges()[id];
        const auto name = [&](const Graph::Target& end) {
            return graph.vertices()[end.node].node->name().text();
        };
        instrument::recording::edge(static_cast<std::int64_t>(id), name(tail), tail.port, name(head),
                                    head.port);
    }
}

} // namespace

Job::Job(const nlohmann::json& components, std::string source, const std::string& app)
    : m_source(std::move(source)), m_components(components) {
    if (!components.is_array()) {
        detail::wrong_type(m_source, components, "the array of components that pgraph's main(graph) returns");
    }
    Environment& environment = *m_environments.emplace_back(make_environment());
    std::vector<JobEntry> engines;
    try {
        for (std::size_t i = 0; i < components.size(); ++i) {
            const JobEntry entry = read_entry(components[i], i, m_source);
            if (is_engine(entry)) {
                engines.push_back(entry);
            } else if (is_component(entry)) {
                environment.add(make_component(entry));
            }
        }
        if (environment.find(context_name) == nullptr) {
            auto context = Registry::instance().make({context_name, ""});
            context->configure(nlohmann::json::object());
            environment.add(std::move(context));
        }
        m_engine = choose_engine(engines, app, m_source);
        if (m_engine == "TbbFlow") {
            require_tbb_flow();
        }
        m_engine_config = std::make_unique<EngineConfig>(read_engine(engines.front(), m_source));
        m_graphs.push_back(std::make_unique<Graph>(environment, m_engine_config->edges, m_source));
    } catch (Error& error) {
        name_source(error, m_source);
        throw;
    }
    m_memory_plan = plan_memory(graph(), environment);
    m_window_memory_plan = plan_window_memory(graph(), environment);
}

Job::~Job() = default;

std::unique_ptr<Environment> Job::make_environment() {
    return std::make_unique<Environment>([](const Component& component) {
        return std::make_shared<instrument::StartUpPhase>("prepare " + component.name().text());
    });
}

void Job::prepare(const RunOptions& options) {
    m_device_warnings = std::make_unique<DeviceWarnings>();
    try {
        check_outputs();
        make_replicas(requested_devices());
        keep_within_budget();
        const OperationThreads threads(operation_threads(options));
        for (const auto& environment : m_environments) {
            environment->prepare_all();
        }
        {
            const instrument::StartUpPhase waiting("wait for device");
            for (const Replica& replica : replicas()) {
                wait_for_device(replica.device);
            }
        }
        make_device_replicas(options);
    } catch (...) {
        try {
            rethrow_readable("");
        } catch (Error& error) {
            name_source(error, m_source);
            throw_if_lost(replicas(), error);
            throw;
        }
    }
}

RunSummary Job::run(const RunOptions& options) {
    // Reports at the end of the run; made here for a second run.
    const auto device_warnings =
        m_device_warnings ? std::move(m_device_warnings) : std::make_unique<DeviceWarnings>();
    RunState state(options, summary(memory_plan(), memory_choice()));
    const std::vector<Replica>& all_replicas = m_device_replicas->replicas();
    record_edges(*all_replicas.front().graph);
    const OperationThreads threads(operation_threads(options));
    if (m_engine == "TbbFlow") {
        run_tbb_flow(all_replicas, state, {graph_threads(options), operation_threads(options)},
                     events_in_flight());
    } else {
        run_pgrapher(all_replicas, state, events_in_flight());
    }
    for (const Replica& replica : all_replicas) {
        const auto loss = is_known_lost(replica.device) ? std::nullopt : loss_of(replica.device);
        if (loss) {
            log::warn("replicas", replica.device.str() + " was lost after its last event: " + *loss);
        }
    }
    finish_nodes();
    return state.finish();
}

std::optional<double> Job::share_done() const {
    std::optional<double> share;
    for (const auto& vertex : graph().vertices()) {
        if (const auto own = vertex.node->share_done()) {
            share = std::min(share.value_or(1), *own);
        }
    }
    return share;
}

Context& Job::context_of(Environment& environment) const {
    auto* context = dynamic_cast<Context*>(environment.find(context_name));
    if (context == nullptr) {
        throw Error(ErrorKind::Configuration, {.what = "the job has no context",
                                               .where = m_source,
                                               .seen = "no component called " + std::string(context_name),
                                               .expected = "one, without an instance name"});
    }
    return *context;
}

const Context& Job::context() const {
    return context_of(*m_environments.front());
}

void Job::finish_nodes() {
    std::optional<Error> first;
    for (const auto& vertex : graph().vertices()) {
        try {
            vertex.node->finish();
        } catch (Error& error) {
            error.add_where(vertex.node->name().text());
            first = first ? first : error;
        }
    }
    if (first) {
        throw *first;
    }
}

} // namespace spng
