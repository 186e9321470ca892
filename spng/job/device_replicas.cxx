// SPDX-License-Identifier: Apache-2.0
#include "spng/job/device_replicas.h"

#include "spng/core/log/log.h"
#include "spng/device/device_graph.h"
#include "spng/engine/warm_up.h"

#include <c10/util/Exception.h>

#include <algorithm>

namespace spng {
namespace {

/// Return the reason why no job can use CUDA graphs here; empty if it can.
std::string rejection_of(c10::Device device, const DeviceReplicaOptions& options) {
    if (make_device_graph(device) == nullptr) {
        return device.is_cpu()
                   ? "the job runs on the CPU"
                   : "libWireCellSpngCuda.so is missing, or supports no CUDA graphs on " + device.str();
    }
    if (options.max_graphs == 0) {
        return "the memory budget has no room for a graph besides one event";
    }
    return options.mode.synchronise ? "--sync-timing waits around each node" : "";
}

} // namespace

DeviceReplicas::DeviceReplicas(std::vector<Replica> replicas, const DeviceReplicaOptions& options)
    : m_replicas(std::move(replicas)) {
    if (options.cuda_graph != "off") {
        capture_bodies(options);
    }
    for (std::size_t i = 0; i < m_replicas.size(); ++i) {
        const double seconds = warm_up(m_replicas[i], options.events_in_flight);
        m_warm_up += seconds;
        auto plans = fft_plan_cache(m_replicas[i].device);
        if (plans == nullptr) {
            continue;
        }
        // CUDA graphs keep using the plans of their capture, so no plan may be dropped.
        const std::int64_t most = m_bodies.empty() ? bound_fft_plans(*plans) : 0;
        log::info("warm-up", [&] {
            return m_replicas[i].device.str() + " ready after " + std::to_string(seconds) + " s; " +
                   (most > 0 ? "keeps " + std::to_string(most) + " FFT plans"
                             : std::string("keeps all plans of transforms"));
        });
        m_plans.push_back(std::move(plans));
    }
}

DeviceReplicas::~DeviceReplicas() {
    m_bodies.clear(); // before the plans that their graphs use
    for (const auto& plans : m_plans) {
        try {
            plans->clear();
        } catch (const c10::Error&) {
            // A lost device cannot free them; the error of the run reports the loss.
        }
    }
}

void DeviceReplicas::capture_bodies(const DeviceReplicaOptions& options) {
    std::string rejection;
    for (const Replica& replica : m_replicas) { // all have the same steps, but their nodes may differ
        rejection = rejection.empty() ? rejection_of(replica.device, options) : rejection;
        rejection = rejection.empty() ? find_device_section(*replica.parts).rejection : rejection;
    }
    const bool is_asked = options.cuda_graph == "on";
    const log::Level level = is_asked ? log::Level::warn : log::Level::info;
    if (!rejection.empty()) {
        const bool is_expected = !is_asked && m_replicas.front().device.is_cpu();
        log::line("cuda_graph", is_expected ? log::Level::debug : level,
                  [&] { return "CUDA graphs are not used: " + rejection; });
        return;
    }
    const Captures::Limits limits{.slots = std::clamp(static_cast<std::size_t>(options.events_in_flight),
                                                      std::size_t{1}, Captures::max_slots),
                                  .captures = options.max_graphs};
    for (Replica& replica : m_replicas) {
        m_bodies.push_back(std::make_unique<CapturedBody>(*replica.parts, replica.device, options.mode,
                                                          limits, level,
                                                          m_replicas.size() > 1 ? replica.device.str() : ""));
        replica.body = m_bodies.back().get();
    }
}

std::vector<instrument::NodeMeter*> DeviceReplicas::meters() const {
    std::vector<instrument::NodeMeter*> meters;
    for (const auto& body : m_bodies) {
        meters.push_back(&body->meter());
    }
    return meters;
}

} // namespace spng
