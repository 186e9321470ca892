// SPDX-License-Identifier: Apache-2.0
// Replicas of a job: one copy of the graph for each device, and the threads and events of each.

#include "spng/device/context.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/engine/engine.h"
#include "spng/engine/replicas.h"
#include "spng/graph/node.h"
#include "spng/job/device_replicas.h"
#include "spng/job/job.h"
#include "spng/job/job_entries.h"

#include <algorithm>
#include <thread>

namespace spng {
namespace {

int cores() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

} // namespace

void Job::make_replicas(const std::vector<std::string>& devices) {
    for (std::size_t replica = 1; replica < devices.size(); ++replica) {
        auto environment = make_environment();
        for (std::size_t i = 0; i < m_components.size(); ++i) {
            const JobEntry entry = read_entry(m_components[i], i, m_source);
            if (!is_component(entry)) {
                continue;
            }
            auto component = make_component(entry);
            const auto* node = dynamic_cast<const Node*>(component.get());
            if (node == nullptr || !is_shared(*node)) {
                environment->add(std::move(component));
            }
        }
        if (environment->find(context_name) == nullptr) {
            environment->add(Registry::instance().make({context_name, ""}));
        }
        m_graphs.push_back(std::make_unique<Graph>(graph().with_nodes_of(*environment)));
        m_environments.push_back(std::move(environment));
    }
    for (std::size_t replica = 0; replica < devices.size(); ++replica) {
        auto& context = context_of(*m_environments[replica]);
        nlohmann::json data = to_json(context.config());
        data["device"] = devices[replica];
        context.configure(data);
    }
}

std::vector<std::string> Job::requested_devices() const {
    return replica_devices(context().config().device, std::string(context_name) + ", key device");
}

std::vector<Replica> Job::replicas() const {
    std::vector<Replica> replicas;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        replicas.emplace_back(*m_graphs[i], context_of(*m_environments[i]).device());
    }
    return replicas;
}

void Job::make_device_replicas(const RunOptions& options) {
    m_device_replicas = std::make_unique<DeviceReplicas>(
        replicas(), DeviceReplicaOptions{.cuda_graph = context().config().cuda_graph,
                                         .mode = options.meter_mode,
                                         .events_in_flight = events_in_flight(),
                                         .max_graphs = static_cast<std::size_t>(m_max_graphs)});
}

bool Job::works_on_cpu() const {
    const std::string device = listed_devices(context().config().device, context_name).front();
    return device == "cpu" || (device == "auto" && cuda_device_count() == 0);
}

int Job::events_in_flight() const {
    const int asked = m_engine_config->events_in_flight;
    return m_engine == "TbbFlow" ? asked : std::min(asked, works_on_cpu() ? 1 : 2);
}

std::vector<c10::Device> Job::devices() const {
    std::vector<c10::Device> devices;
    for (const Replica& replica : replicas()) {
        devices.push_back(replica.device);
    }
    return devices;
}

int Job::graph_threads(const RunOptions& options) const {
    if (m_engine != "TbbFlow") {
        return 1;
    }
    if (options.graph_threads > 0) {
        return options.graph_threads;
    }
    if (m_engine_config->max_threads > 0) {
        return m_engine_config->max_threads;
    }
    // Nodes of a device only queue work, and each thread that calls the network needs handles and plans of its
    // own: two threads for each event in flight are enough.
    const int busy = 2 * events_in_flight() * static_cast<int>(m_graphs.size());
    return works_on_cpu() ? cores() : std::min(cores(), busy);
}

int Job::operation_threads(const RunOptions& options) const {
    const int threads = context().config().threads;
    return threads > 0 ? threads : std::max(1, cores() / graph_threads(options));
}

} // namespace spng
