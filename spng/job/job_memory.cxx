// SPDX-License-Identifier: Apache-2.0
// Memory of a job: plan, budget and choice.

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/unit_text.h"
#include "spng/device/context.h"
#include "spng/device/device_graph.h"
#include "spng/device/device_list.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/engine/body/captures.h"
#include "spng/engine/engine.h"
#include "spng/engine/replicas.h"
#include "spng/job/job.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace spng {
namespace {

/// The budget if the configuration has none, from the bytes that a device can give.
std::int64_t default_budget(std::int64_t available) {
    return available / 10 * 9;
}

} // namespace

void Job::keep_within_budget() {
    m_free = -1;
    for (const auto& environment : m_environments) {
        const std::int64_t free =
            device_memory(environment->service<Context>(context_name, context_name).device()).free;
        m_free = m_free < 0 || (free >= 0 && free < m_free) ? free : m_free;
    }
    const bool is_limited = !context().device().is_cpu() || address_space_is_limited();
    if (context().memory_budget() == 0 && m_free > 0 && is_limited) {
        m_budget = default_budget(m_free);
    }
    const MemoryChoice choice = choice_within_budget();
    if (log::enabled("memory", log::Level::info)) {
        std::istringstream lines(memory_text());
        for (std::string line; std::getline(lines, line);) {
            log::info("memory", [&] { return line; });
        }
    }
    m_engine_config->events_in_flight = choice.events_in_flight;
    m_max_graphs = choice.graphs;
    for (const auto& environment : m_environments) {
        context_of(*environment).set_network_budget(choice.network_budget);
    }
}

MemoryChoice Job::choice_within_budget() const {
    try {
        return memory_choice();
    } catch (const Error& error) {
        if (m_budget == 0) {
            throw; // the budget of the configuration
        }
        throw OutOfMemory(
            {.what = "not enough memory for one event",
             .where = context().device().str(),
             .seen = format_bytes(m_free) + " free, " + format_bytes(m_budget) + " of it for tensors",
             .expected = error.text().expected,
             .hint = context().device().is_cpu()
                         ? "a larger address space (ulimit -v), -A batch=false, -A model=none, or a "
                           "shorter -A window="
                         : "a device with more free memory, -A batch=false, -A model=none, a shorter -A "
                           "window=, or -A device=cpu"});
    }
}

std::int64_t Job::budget() const {
    return m_budget > 0 ? m_budget : context().memory_budget();
}

std::int64_t Job::replicas_of_device() const {
    const auto names = listed_devices(context().config().device, context_name);
    std::map<std::string, std::int64_t> replicas;
    std::int64_t most = 1;
    for (const auto& name : names) {
        most = std::max(most, ++replicas[name]);
    }
    return most;
}

std::int64_t Job::replica_budget() const {
    return budget() / replicas_of_device();
}

std::int64_t Job::bytes_with_one_event() const {
    return std::max(m_memory_plan.total(1), m_window_memory_plan ? m_window_memory_plan->total(1) : 0);
}

bool Job::fits_devices() const {
    std::int64_t least = context().memory_budget();
    try {
        if (least == 0) {
            for (const auto& name : requested_devices()) {
                const std::int64_t budget =
                    default_budget(device_memory(choose_device(name, context_name)).free);
                least = least == 0 || (budget > 0 && budget < least) ? budget : least;
            }
        }
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::Device) {
            throw;
        }
        return true;
    }
    return least <= 0 || bytes_with_one_event() <= least / replicas_of_device();
}

int Job::cuda_graphs() const {
    const bool can_capture = !works_on_cpu() || make_device_graph(c10::kCPU) != nullptr;
    if (!can_capture || context().config().cuda_graph == "off") {
        return 0;
    }
    const auto slots = std::min(static_cast<std::size_t>(events_in_flight()), Captures::max_slots);
    return static_cast<int>(slots * Captures::max_shapes);
}

MemoryChoice Job::memory_choice() const {
    const bool wants_graphs = context().config().cuda_graph == "on";
    return choose_within(memory_plan(), replica_budget(), events_in_flight(), cuda_graphs(),
                         wants_graphs ? 1 : 0);
}

std::string Job::memory_text() const {
    // Before the job is prepared no device is queried, so "all" counts as one.
    const std::size_t replica_count =
        std::max(replicas().size(), listed_devices(context().config().device, context_name).size());
    return to_string(memory_plan(), m_window_memory_plan, memory_choice(), replica_count, budget(), m_free);
}

nlohmann::json Job::memory_json() const {
    return json_of(memory_plan(), m_window_memory_plan, memory_choice(), replicas().size(), budget(), m_free);
}

} // namespace spng
