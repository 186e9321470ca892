// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/run_state.h"

#include "spng/core/log/log.h"

#include <algorithm>

namespace spng {

void RunState::keep(std::uint64_t event, const Error& error, bool ends_run) {
    if (m_options.counts != nullptr) {
        ++m_options.counts->failed;
    }
    {
        const std::lock_guard lock(m_mutex);
        if (ends_run) {
            m_first_failed = std::min(m_first_failed.load(), event);
        }
        if (!m_options.on_failed) {
            m_errors.emplace(event, error);
            return;
        }
    }
    m_options.on_failed(event, error);
}

void RunState::lost_device(std::uint64_t event, const Error& error, bool was_last) {
    keep(event, error, was_last || !m_options.skip_failed);
    const std::lock_guard lock(m_mutex);
    if (was_last && (!m_device_error || event < m_device_error->first)) {
        m_device_error.emplace(event, error);
    }
}

void RunState::completed(std::uint64_t event) {
    ++m_done;
    if (m_options.counts != nullptr) {
        ++m_options.counts->done;
    }
    log::info("graph", [&] { return "event " + std::to_string(event) + " done"; });
}

RunSummary RunState::finish() const {
    const std::lock_guard lock(m_mutex);
    if (!m_options.skip_failed && !m_errors.empty()) {
        throw m_errors.begin()->second;
    }
    RunSummary summary{m_done, {}, stop_signal(), {}};
    if (m_device_error) {
        summary.device_error = m_device_error->second;
    }
    for (const auto& [event, error] : m_errors) {
        summary.skipped.push_back({event, error.what()});
    }
    return summary;
}

} // namespace spng
