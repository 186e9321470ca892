#include "spng/engine/job.h"

#include "spng/core/log/log.h"
#include "spng/device/context.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/device/event_stream.h"
#include "spng/device/memory/device_memory.h"
#include "spng/engine/device_replicas.h"
#include "spng/engine/engine.h"
#include "spng/engine/replicas.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/instrument/recording.h"
#include "spng/io/data_file_reader.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

namespace spng {
namespace {

const std::vector<std::string> engine_types{"Pgrapher", "TbbFlow"};

int cores() {
    return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// Every configuration error names the file that it comes from, once.
void name_source(Error& error, const std::string& source) {
    if (error.text().where.find(source) == std::string::npos) {
        error.add_where(source);
    }
}

void record_edges(const Graph& graph) {
    for (std::size_t number = 0; number < graph.edges().size(); ++number) {
        const auto& [tail, head] = graph.edges()[number];
        const auto name = [&](const Graph::Target& end) {
            return graph.vertices()[end.node].node->name().text();
        };
        instrument::recording::edge(static_cast<std::int64_t>(number), name(tail), tail.port, name(head),
                                    head.port);
    }
}

/// One {type, name, data} of the configuration's array.
struct Entry {
    ComponentName name;
    const nlohmann::json* data;
};

const nlohmann::json& no_data() {
    static const nlohmann::json empty = nlohmann::json::object();
    return empty;
}

Entry read_entry(const nlohmann::json& item, std::size_t number, const std::string& source) {
    const std::string where = source + ", component " + std::to_string(number);
    detail::require_object(where, item);
    for (const auto& [key, value] : item.items()) {
        if (key != "type" && key != "name" && key != "data") {
            detail::unknown_key(where, key, {"type", "name", "data"});
        }
    }
    const auto text = [&](const char* key) {
        const auto found = item.find(key);
        if (found == item.end()) {
            return std::string{};
        }
        if (!found->is_string()) {
            detail::wrong_type(where + ", key " + key, *found, "string");
        }
        return found->get<std::string>();
    };
    Entry entry{{text("type"), text("name")}, &no_data()};
    if (entry.name.type.empty()) {
        detail::missing_key(where, "type", "the registered type of the component");
    }
    if (const auto data = item.find("data"); data != item.end() && !data->is_null()) {
        entry.data = &*data;
    }
    return entry;
}

bool is_engine(const ComponentName& name) {
    return std::find(engine_types.begin(), engine_types.end(), name.type) != engine_types.end();
}

/// Plugins and applications are the command line's concern.
bool is_component(const Entry& entry) {
    return !is_engine(entry.name) && entry.name.type != "wire-cell";
}

/// Engines are no registered components, but a user who misspells one means it.
[[noreturn]] void reject_type(const ComponentName& name) {
    auto types = Registry::instance().types();
    types.insert(types.end(), engine_types.begin(), engine_types.end());
    throw Error(
        ErrorKind::Configuration,
        {.what = "unknown component type '" + name.type + "'",
         .where = name.text(),
         .seen = name.type,
         .expected = "a registered type (wire-cell --list), or an engine: " + joined(engine_types, ", "),
         .hint = suggestion(name.type, types)});
}

std::unique_ptr<Component> make_component(const Entry& entry) {
    if (Registry::instance().find(entry.name.type) == nullptr) {
        reject_type(entry.name);
    }
    auto component = Registry::instance().make(entry.name);
    component->configure(*entry.data);
    return component;
}

/// The engine among the components: the one asked for, or else the only one there is.
std::string choose_engine(const std::vector<Entry>& engines, const std::string& asked,
                          const std::string& source) {
    if (!asked.empty() && std::find(engine_types.begin(), engine_types.end(),
                                    ComponentName::from(asked).type) == engine_types.end()) {
        throw Error(ErrorKind::Configuration, {.what = "unknown application '" + asked + "'",
                                               .where = source,
                                               .seen = asked,
                                               .expected = joined(engine_types, " or "),
                                               .hint = suggestion(asked, engine_types)});
    }
    if (engines.empty()) {
        throw Error(ErrorKind::Configuration, {.what = "the configuration has no graph to run",
                                               .where = source,
                                               .seen = "no component of type " + joined(engine_types, " or "),
                                               .expected = "one, holding the edges",
                                               .hint = "end the configuration with pgraph's main(graph)"});
    }
    return asked.empty() ? engines.front().name.type : ComponentName::from(asked).type;
}

} // namespace

Job::Job(const nlohmann::json& components, std::string source, const std::string& app)
    : m_source(std::move(source)), m_components(components) {
    if (!components.is_array()) {
        detail::wrong_type(m_source, components, "the array of components that pgraph's main(graph) returns");
    }
    Environment& environment = *m_environments.emplace_back(std::make_unique<Environment>());
    std::vector<Entry> engines;
    try {
        for (std::size_t i = 0; i < components.size(); ++i) {
            const Entry entry = read_entry(components[i], i, m_source);
            if (is_engine(entry.name)) {
                engines.push_back(entry);
            } else if (is_component(entry)) {
                environment.add(make_component(entry));
            }
        }
        if (environment.find(context_name) == nullptr) {
            auto context = Registry::instance().make({context_name, ""});
            context->configure(no_data());
            environment.add(std::move(context));
        }
        if (engines.size() > 1) {
            throw Error(ErrorKind::Configuration,
                        {.what = "the configuration has several graphs",
                         .where = m_source,
                         .seen = std::to_string(engines.size()) + " components of type " +
                                 joined(engine_types, " or "),
                         .expected = "one",
                         .hint = "keep one; --app chooses the engine that runs it"});
        }
        m_engine = choose_engine(engines, app, m_source);
        const std::string where = m_engine + " (" + m_source + ")";
        m_engine_config = std::make_unique<EngineConfig>(parse<EngineConfig>(*engines.front().data, where));
        m_graphs.push_back(std::make_unique<Graph>(environment, m_engine_config->edges, m_source));
    } catch (Error& error) {
        name_source(error, m_source);
        throw;
    }
    m_memory_plan = plan_memory(graph(), environment);
    m_window_memory_plan = plan_window_memory(graph(), environment);
}

Job::~Job() = default;

void Job::prepare(const RunOptions& options) {
    try {
        make_replicas(asked_devices());
        keep_within_budget();
        const int threads = context().config().threads;
        at::set_num_threads(threads > 0 ? threads : std::max(1, cores() / graph_threads(options)));
        for (const auto& environment : m_environments) {
            environment->prepare_all();
        }
        for (const Replica& replica : replicas()) {
            wait_for_device(replica.device);
        }
        make_device_replicas(options);
    } catch (Error& error) {
        name_source(error, m_source);
        throw;
    }
}

RunSummary Job::run(const RunOptions& options) {
    RunState state(options, summary(memory_plan(), memory_choice()));
    const std::vector<Replica>& all_replicas = m_device_replicas->replicas();
    record_edges(*all_replicas.front().graph);
    if (m_engine == "TbbFlow") {
        run_tbb_flow(all_replicas, state, graph_threads(options), events_in_flight());
    } else {
        run_pgrapher(all_replicas, state, events_in_flight());
    }
    finish_nodes();
    return state.finish();
}

void Job::make_replicas(const std::vector<std::string>& devices) {
    for (std::size_t replica = 1; replica < devices.size(); ++replica) {
        auto environment = std::make_unique<Environment>();
        for (std::size_t i = 0; i < m_components.size(); ++i) {
            const Entry entry = read_entry(m_components[i], i, m_source);
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

std::vector<std::string> Job::asked_devices() const {
    return replica_devices(context().config().device, std::string(context_name) + ", key device");
}

void Job::keep_within_budget() {
    m_free = -1;
    for (const auto& environment : m_environments) {
        const std::int64_t free =
            device_memory(environment->service<Context>(context_name, context_name).device()).free;
        m_free = m_free < 0 || (free >= 0 && free < m_free) ? free : m_free;
    }
    if (context().memory_budget() == 0 && m_free > 0 && !context().device().is_cpu()) {
        m_budget = m_free / 10 * 9;
    }
    const MemoryChoice choice = memory_choice();
    if (log::enabled("memory", log::Level::info)) {
        std::istringstream lines(memory_text());
        for (std::string line; std::getline(lines, line);) {
            log::info("memory", [&] { return line; });
        }
    }
    m_engine_config->events_in_flight = choice.events_in_flight;
    for (const auto& environment : m_environments) {
        context_of(*environment).set_network_budget(choice.network_budget);
    }
}

std::int64_t Job::budget() const {
    return m_budget > 0 ? m_budget : context().memory_budget();
}

std::int64_t Job::replica_budget() const {
    const auto names = listed_devices(context().config().device, context_name);
    std::map<std::string, std::int64_t> replicas;
    std::int64_t most = 1;
    for (const auto& name : names) {
        most = std::max(most, ++replicas[name]);
    }
    return budget() / most;
}

std::vector<UsedFile> Job::used_files(MissingInputs missing) const {
    std::vector<UsedFile> files;
    for (const auto& component : m_environments.front()->components()) {
        if (const auto* user = dynamic_cast<const FileUser*>(component.get())) {
            const std::string name = component->name().text();
            try {
                for (const auto& file : user->files_read()) {
                    files.push_back({name, file, false});
                }
            } catch (Error& error) {
                if (missing == MissingInputs::rejected) {
                    error.add_where(name);
                    name_source(error, m_source);
                    throw;
                }
            }
            for (const auto& file : user->files_written()) {
                files.push_back({name, file, true});
            }
        }
    }
    return files;
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

MemoryChoice Job::memory_choice() const {
    return choose_within(memory_plan(), replica_budget(), events_in_flight());
}

std::string Job::memory_text() const {
    // Before the job is prepared no device is asked for, so that "all" counts as one.
    const std::size_t replica_count =
        std::max(replicas().size(), listed_devices(context().config().device, context_name).size());
    return to_string(memory_plan(), m_window_memory_plan, memory_choice(), replica_count, budget(), m_free);
}

nlohmann::json Job::memory_json() const {
    return json_of(memory_plan(), m_window_memory_plan, memory_choice(), replicas().size(), budget(), m_free);
}

std::vector<Replica> Job::replicas() const {
    std::vector<Replica> replicas;
    for (std::size_t i = 0; i < m_graphs.size(); ++i) {
        replicas.push_back({m_graphs[i].get(), context_of(*m_environments[i]).device()});
    }
    return replicas;
}

void Job::make_device_replicas(const RunOptions& options) {
    std::vector<Environment*> environments;
    for (const auto& environment : m_environments) {
        environments.push_back(environment.get());
    }
    m_device_replicas =
        std::make_unique<DeviceReplicas>(replicas(), environments,
                                         DeviceReplicaOptions{.cuda_graph = context().config().cuda_graph,
                                                              .mode = options.meter_mode,
                                                              .events_in_flight = events_in_flight()});
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
    // A device's nodes only queue work, and each thread that calls the network has handles and plans of its
    // own.
    const int busy = 2 * events_in_flight() * static_cast<int>(m_graphs.size());
    return works_on_cpu() ? cores() : std::min(cores(), busy);
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
    settings["threads"] = at::get_num_threads();
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
