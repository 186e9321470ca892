#include "spng/graph/device_lanes.h"

#include "spng/core/log.h"
#include "spng/device/device_graph.h"
#include "spng/graph/warm_up.h"
#include "spng/instrument/state_trace.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace spng {
namespace {

/// Why events are not launched as one, whatever the graph looks like.
std::string refusal_of(c10::Device device, const DeviceLaneOptions& options) {
    if (make_device_graph(device) == nullptr) {
        return device.is_cpu() ? "the job runs on the CPU"
                               : "libWireCellSpngCuda.so is not there, or has none for " + device.str();
    }
    if (options.mode.synchronise) {
        return "--sync-timing waits around each node";
    }
    return instrument::tracing_states() ? "--trace-states reads what each node gives" : "";
}

} // namespace

DeviceLanes::DeviceLanes(std::vector<Lane> lanes, const std::vector<Environment*>& environments,
                         const DeviceLaneOptions& options)
    : m_lanes(std::move(lanes)) {
    if (options.cuda_graph != "off") {
        put_sections_in(environments, options);
    }
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        const double seconds = warm_up(*m_lanes[i].graph, m_lanes[i].device, options.events_in_flight);
        m_warm_up += seconds;
        auto plans = fft_plan_cache(m_lanes[i].device);
        if (plans == nullptr) {
            continue;
        }
        // Recorded graphs use the plans that they were recorded with, so that none may be dropped.
        const std::int64_t most = m_sections.empty() ? bound_fft_plans(*plans) : 0;
        log::info("warm-up", [&] {
            return m_lanes[i].device.str() + " ready after " + std::to_string(seconds) + " s; " +
                   (most > 0 ? "keeps " + std::to_string(most) + " plans of transforms"
                             : std::string("keeps all plans of transforms"));
        });
        m_plans.push_back(std::move(plans));
    }
}

DeviceLanes::~DeviceLanes() {
    m_sections.clear(); // before the plans that their graphs use
    for (const auto& plans : m_plans) {
        try {
            plans->clear();
        } catch (const c10::Error&) {
            // A device that was lost frees nothing any more; the run's own error says so.
        }
    }
}

void DeviceLanes::put_sections_in(const std::vector<Environment*>& environments,
                                  const DeviceLaneOptions& options) {
    std::string refusal;
    std::vector<GraphSection> sections;
    for (const Lane& lane : m_lanes) {
        sections.push_back(find_device_section(*lane.graph));
        refusal = refusal.empty() ? refusal_of(lane.device, options) : refusal;
        refusal = refusal.empty() ? sections.back().refusal : refusal;
    }
    if (!refusal.empty()) { // of one lane: all lanes have the same vertices
        const std::string text = "events are not launched as one: " + refusal;
        options.cuda_graph == "on" ? log::warn("cuda_graph", text) : log::info("cuda_graph", text);
        return;
    }
    // More than two copies of the memory of an event would overlap no better.
    const auto slots = static_cast<std::size_t>(std::clamp(options.events_in_flight, 1, 2));
    for (std::size_t i = 0; i < m_lanes.size(); ++i) {
        Lane& lane = m_lanes[i];
        auto node = std::make_unique<DeviceSection>();
        node->set_name({"SPNGDeviceSection", m_lanes.size() > 1 ? lane.device.str() : ""});
        node->configure(nlohmann::json::object());
        node->enclose(*lane.graph, sections[i], options.mode, slots);
        node->prepare(*environments.at(i));
        m_graphs.push_back(std::make_unique<Graph>(with_section(*lane.graph, sections[i], *node)));
        lane.graph = m_graphs.back().get();
        m_sections.push_back(std::move(node));
    }
}

std::vector<instrument::NodeMeter*> DeviceLanes::meters() const {
    std::vector<instrument::NodeMeter*> meters;
    for (const auto& section : m_sections) {
        meters.push_back(&section->meter());
    }
    return meters;
}

} // namespace spng
