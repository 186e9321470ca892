// SPDX-License-Identifier: Apache-2.0
#pragma once
// Failures and the end of a run.

#include "spng/engine/body/run_options.h"

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace spng {

/// Thread-safe.
class RunState {
public:
    /// @param memory_plan  summary for the error of an event that runs out of memory
    explicit RunState(const RunOptions& options, std::string memory_plan = {})
        : m_options(options), m_memory_plan(std::move(memory_plan)) {}

    const RunOptions& options() const { return m_options; }
    const std::string& memory_plan() const { return m_memory_plan; }

    /// The signal that stopped the run, or 0.
    int stop_signal() const {
        return m_options.stop_signal == nullptr ? 0 : m_options.stop_signal->load(std::memory_order_relaxed);
    }

    /// Whether no new event may start.
    bool ending() const { return stop_signal() != 0 || m_first_failed.load() != none; }

    /// Whether the work on this event must end: the run was stopped, or an earlier event failed.
    bool abandoned(std::uint64_t event) const { return stop_signal() != 0 || event > m_first_failed.load(); }

    void failed(std::uint64_t event, const Error& error) { keep(event, error, !m_options.skip_failed); }
    /// As failed(). The loss of the last device ends the run, even if failed events are skipped.
    void lost_device(std::uint64_t event, const Error& error, bool was_last);
    void completed(std::uint64_t event);

    /// @return the summary of the run
    /// @throws the Error of the first failed event
    RunSummary finish() const;

private:
    void keep(std::uint64_t event, const Error& error, bool ends_run);

    static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
    RunOptions m_options;
    std::string m_memory_plan;
    std::atomic<std::uint64_t> m_done{0};
    std::atomic<std::uint64_t> m_first_failed{none};
    mutable std::mutex m_mutex;
    std::map<std::uint64_t, Error> m_errors;
    std::optional<std::pair<std::uint64_t, Error>>
        m_device_error; ///< of the first event that lost the last device
};

} // namespace spng
