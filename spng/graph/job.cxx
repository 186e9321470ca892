#include "spng/graph/job.h"

#include "spng/core/log.h"
#include "spng/device/context.h"
#include "spng/graph/engine.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <thread>

namespace spng {
namespace {

const std::vector<std::string> engine_types{"Pgrapher", "TbbFlow"};

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

/// The engine among the components: the one asked for, or else the only one there is.
std::string choose_engine(const std::vector<Entry>& engines, const std::string& asked,
                          const std::string& source) {
    if (!asked.empty() && std::find(engine_types.begin(), engine_types.end(),
                                    ComponentName::from(asked).type) == engine_types.end()) {
        throw Error(ErrorKind::Configuration, {.what = "unknown application '" + asked + "'",
                                               .where = source,
                                               .seen = asked,
                                               .expected = joined(engine_types, " or "),
                                               .mend = suggestion(asked, engine_types)});
    }
    if (engines.empty()) {
        throw Error(ErrorKind::Configuration, {.what = "the configuration has no graph to run",
                                               .where = source,
                                               .seen = "no component of type " + joined(engine_types, " or "),
                                               .expected = "one, holding the edges",
                                               .mend = "end the configuration with pgraph's main(graph)"});
    }
    return asked.empty() ? engines.front().name.type : ComponentName::from(asked).type;
}

} // namespace

Job::Job(const nlohmann::json& components, std::string source, const std::string& app)
    : m_source(std::move(source)) {
    if (!components.is_array()) {
        detail::wrong_type(m_source, components, "the array of components that pgraph's main(graph) returns");
    }
    std::vector<Entry> engines;
    try {
        for (std::size_t i = 0; i < components.size(); ++i) {
            const Entry entry = read_entry(components[i], i, m_source);
            if (std::find(engine_types.begin(), engine_types.end(), entry.name.type) != engine_types.end()) {
                engines.push_back(entry);
            } else if (entry.name.type !=
                       "wire-cell") { // plugins and applications: the command line's concern
                auto component = Registry::instance().make(entry.name);
                component->configure(*entry.data);
                m_environment.add(std::move(component));
            }
        }
        if (m_environment.find(context_name) == nullptr) {
            auto context = Registry::instance().make({context_name, ""});
            context->configure(no_data());
            m_environment.add(std::move(context));
        }
        m_engine = choose_engine(engines, app, m_source);
        // All engines of a configuration run the same graph, so the first one's data serve the engine asked
        // for.
        m_engine_data = *engines.front().data;
        const std::string where = m_engine + " (" + m_source + ")";
        const auto edges = m_engine == "TbbFlow" ? parse<TbbFlowConfig>(m_engine_data, where).edges
                                                 : parse<PgrapherConfig>(m_engine_data, where).edges;
        m_graph = std::make_unique<Graph>(m_environment, edges, m_source);
    } catch (Error& error) {
        if (error.text().where.find(m_source) == std::string::npos) {
            error.add_where(m_source);
        }
        throw;
    }
}

Job::~Job() = default;

void Job::prepare() {
    try {
        m_environment.prepare_all();
    } catch (Error& error) {
        if (error.text().where.find(m_source) == std::string::npos) {
            error.add_where(m_source);
        }
        throw;
    }
}

RunSummary Job::run(const RunOptions& options) {
    RunState state(options);
    if (m_engine == "TbbFlow") {
        const auto config = parse<TbbFlowConfig>(m_engine_data, m_engine);
        const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
        const int threads = options.graph_threads > 0 ? options.graph_threads
                            : config.max_threads > 0  ? config.max_threads
                                                      : cores;
        const auto* context = dynamic_cast<const Context*>(m_environment.find(context_name));
        if (context->config().threads == 0) {
            at::set_num_threads(std::max(1, cores / threads));
        }
        run_tbb_flow(*m_graph, state, threads, config.events_in_flight);
    } else {
        run_pgrapher(*m_graph, state);
    }
    for (const auto& vertex : m_graph->vertices()) {
        vertex.node->finish();
    }
    return state.finish();
}

std::string Job::dot() const {
    return m_graph->dot();
}

nlohmann::json Job::settings() const {
    const auto* context = dynamic_cast<const Context*>(m_environment.find(context_name));
    nlohmann::json settings = to_json(context->config());
    settings["configuration"] = m_source;
    settings["engine"] = m_engine;
    settings["device"] = context->device().str();
    settings["threads"] = at::get_num_threads();
    if (m_engine == "TbbFlow") {
        const auto config = parse<TbbFlowConfig>(m_engine_data, m_engine);
        settings["events_in_flight"] = config.events_in_flight;
        settings["graph_threads"] = config.max_threads;
    }
    return settings;
}

std::vector<instrument::NodeMeter*> Job::meters() const {
    std::vector<instrument::NodeMeter*> meters;
    for (const auto& vertex : m_graph->vertices()) {
        meters.push_back(&vertex.node->meter());
    }
    return meters;
}

} // namespace spng
