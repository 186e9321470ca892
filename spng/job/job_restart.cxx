// SPDX-License-Identifier: Apache-2.0
// A further run of a job, on other files.

#include "spng/core/error.h"
#include "spng/graph/node.h"
#include "spng/io/data_file_reader.h"
#include "spng/job/job.h"
#include "spng/job/job_entries.h"

#include <set>

namespace spng {
namespace {

/// Return the keys whose values differ, in order.
std::vector<std::string> changed_keys(const nlohmann::json& before, const nlohmann::json& now) {
    std::set<std::string> keys;
    for (const auto& change : nlohmann::json::diff(before, now)) {
        const auto path = change.at("path").get<std::string>(); // "/key/..."
        keys.insert(path.substr(0, path.find('/', 1)).substr(path.empty() ? 0 : 1));
    }
    return {keys.begin(), keys.end()};
}

[[noreturn]] void reject_change(const std::string& where, const std::string& seen) {
    throw Error(ErrorKind::Configuration,
                {.what = "a run of the series needs another job",
                 .where = where,
                 .seen = seen,
                 .expected = "the job of the first run, with other files",
                 .hint = "run files with other settings by a program of their own"});
}

} // namespace

void Job::change_files(const nlohmann::json& components) try {
    if (!components.is_array() || components.size() != m_components.size()) {
        reject_change(m_source, components.is_array()
                                    ? std::to_string(components.size()) + " components instead of " +
                                          std::to_string(m_components.size())
                                    : "no array of components");
    }
    for (std::size_t i = 0; i < components.size(); ++i) {
        if (components[i] == m_components[i]) {
            continue;
        }
        const JobEntry entry = read_entry(components[i], i, m_source);
        const std::string name = entry.name.text();
        if (name != read_entry(m_components[i], i, m_source).name.text()) {
            reject_change(m_source, "component " + name);
        }
        auto* const component = is_component(entry) ? m_environments.front()->find(name) : nullptr;
        const bool opens_files_of_a_run = dynamic_cast<Node*>(component) != nullptr &&
                                          dynamic_cast<FileUser*>(component) != nullptr &&
                                          dynamic_cast<DataFileReader*>(component) == nullptr;
        if (!opens_files_of_a_run) {
            const auto keys =
                changed_keys(m_components[i].value("data", nlohmann::json::object()), *entry.data);
            reject_change(name, "another value of " + joined(keys, ", "));
        }
        m_components[i]["data"] = nullptr; // if configure() throws, the next run configures the node again
        component->configure(*entry.data); // replicas share these nodes
        m_components[i] = components[i];
    }
} catch (Error& error) {
    name_source(error, m_source);
    throw;
}

void Job::restart() {
    try {
        check_outputs();
        std::set<const Node*> restarted; // replicas share nodes
        for (std::size_t replica = 0; replica < m_graphs.size(); ++replica) {
            for (const auto& vertex : m_graphs[replica]->vertices()) {
                if (restarted.insert(vertex.node).second) {
                    vertex.node->restart(*m_environments[replica]);
                }
            }
        }
        for (instrument::NodeMeter* const meter : meters()) { // of services and inserted nodes, too
            meter->clear();
        }
    } catch (Error& error) {
        name_source(error, m_source);
        throw;
    }
}

} // namespace spng
