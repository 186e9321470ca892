// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options and summary of a run.

#include "spng/core/error.h"
#include "spng/instrument/meter/node_meter.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Events of a run so far, for the display of progress.
struct RunCounts {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> failed{0};
};

struct RunOptions {
    int graph_threads = 0;    ///< TbbFlow: threads of the graph; 0: those of the configuration
    bool skip_failed = false; ///< --on-error skip: leave out an event that fails and continue
    instrument::MeterMode meter_mode{};
    /// The signal that a handler received, or 0. Engines stop between node calls when it is not 0.
    const std::atomic<int>* stop_signal = nullptr;
    /// With skip_failed: receives the index of each event that failed, and its error, on any thread. The summary of the
    /// run does not list these events, so that a job without end does not keep their errors.
    std::function<void(std::uint64_t event, const Error& error)> on_failed{};
    RunCounts* counts = nullptr; ///< receives the counts; may be null
};

struct SkippedEvent {
    std::uint64_t index;
    std::string reason; ///< the error block
};

struct RunSummary {
    std::uint64_t events_done = 0;
    std::vector<SkippedEvent> skipped;
    int stopped_by = 0; ///< the signal; 0: the run reached the end of the stream
    /// Loss of the device that ended the run although failed events are skipped.
    std::optional<Error> device_error{};
};

} // namespace spng
