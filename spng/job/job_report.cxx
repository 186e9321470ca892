// SPDX-License-Identifier: Apache-2.0
// Reports of a job: files, settings, findings about the input, and meters.

#include "spng/device/context.h"
#include "spng/graph/node.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/io/data_file_reader.h"
#include "spng/job/device_replicas.h"
#include "spng/job/job.h"
#include "spng/job/job_entries.h"

#include <algorithm>

namespace spng {

const std::string& Job::about() const {
    return context().config().about;
}

std::vector<UsedFile> Job::used_files(MissingInputs missing) const {
    std::vector<UsedFile> files;
    for_each_file_user([&](const FileUser& user, const std::string& name) {
        try {
            for (const auto& file : user.files_read()) {
                files.push_back({name, file, false});
            }
        } catch (Error& error) {
            if (missing == MissingInputs::rejected) {
                error.add_where(name);
                name_source(error, m_source);
                throw;
            }
        }
        for (const auto& file : user.files_written()) {
            files.push_back({name, file, true});
        }
    });
    return files;
}

std::vector<Error> Job::find_problems(bool with_inputs) {
    std::vector<Error> problems;
    const auto collect = [&](const auto& action) {
        try {
            action();
            return true;
        } catch (const Error& error) {
            problems.push_back(error);
            return false;
        }
    };
    std::vector<std::string> devices;
    const bool has_devices = collect([&] {
        devices = requested_devices();
        for (const auto& device : devices) {
            choose_device(device, std::string(context_name) + ", key device");
        }
    });
    // Without its devices, look at the other parts of the job on the CPU.
    make_replicas(has_devices ? devices : std::vector<std::string>{"cpu"});
    for (const auto& environment : m_environments) {
        for (const Error& error : environment->try_services()) {
            problems.push_back(error);
        }
    }
    for_each_file_user([&](const FileUser& user, const std::string& name) {
        if (dynamic_cast<const Service*>(&user) == nullptr) { // services have read their files
            try {
                with_inputs ? user.check_files() : user.check_outputs();
            } catch (Error& error) {
                error.add_where(name);
                problems.push_back(error);
            }
        }
    });
    collect([this] { memory_choice(); });
    for (Error& error : problems) {
        name_source(error, m_source);
    }
    return problems;
}

void Job::check_outputs() const {
    for_each_file_user([](const FileUser& user, const std::string& name) {
        try {
            user.check_outputs();
        } catch (Error& error) {
            error.add_where(name);
            throw;
        }
    });
}

void Job::for_each_file_user(const std::function<void(const FileUser&, const std::string&)>& visit) const {
    for (const auto& component : m_environments.front()->components()) {
        if (const auto* user = dynamic_cast<const FileUser*>(component.get())) {
            visit(*user, component->name().text());
        }
    }
}

std::vector<DataFile> Job::data_files() const {
    std::vector<DataFile> files;
    for (const auto& component : m_environments.front()->components()) {
        const auto* reader = dynamic_cast<const DataFileReader*>(component.get());
        if (reader && reader->data_file() &&
            std::find(files.begin(), files.end(), *reader->data_file()) == files.end()) {
            files.push_back(*reader->data_file());
        }
    }
    return files;
}

std::string Job::dot() const {
    return graph().dot();
}

nlohmann::json Job::settings(const RunOptions& options) const {
    nlohmann::json settings = to_json(context().config());
    settings["configuration"] = m_source;
    settings["engine"] = m_engine;
    std::vector<std::string> names;
    for (const c10::Device& device : devices()) {
        names.push_back(device.str());
    }
    settings["device"] = joined(names, ",");
    settings["memory"] = memory_json();
    settings["threads"] = operation_threads(options);
    settings["graph_threads"] = graph_threads(options);
    settings["events_in_flight"] = events_in_flight();
    settings["warm_up_seconds"] = m_device_replicas == nullptr ? 0 : m_device_replicas->warm_up_seconds();
    return settings;
}

instrument::InputReport Job::input_report() const {
    instrument::InputReport report;
    for (const auto& environment : m_environments) {
        for (const auto& component : environment->components()) {
            if (const auto* reporter = dynamic_cast<const instrument::ReportsInput*>(component.get())) {
                report.merge(reporter->input_report());
            }
        }
    }
    return report;
}

std::vector<instrument::NodeMeter*> Job::meters() const {
    std::vector<instrument::NodeMeter*> meters;
    const auto add = [&meters](const Graph& graph, const Environment& environment) {
        for (const auto& vertex : graph.vertices()) {
            if (environment.find(vertex.node->name().text()) == vertex.node) {
                meters.push_back(&vertex.node->meter());
            }
        }
        for (const auto& component : environment.components()) {
            if (auto* const service = dynamic_cast<instrument::Metered*>(component.get())) {
                meters.push_back(&service->meter());
            }
        }
    };
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        add(*m_graphs[i], *m_environments[i]);
    }
    if (m_device_replicas) {
        const auto of_sections = m_device_replicas->meters();
        meters.insert(meters.end(), of_sections.begin(), of_sections.end());
    }
    return meters;
}

} // namespace spng
