// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time before the first event, divided into phases such as "read configuration" and "prepare SPNGDecon:induction".
// The report at the end of the run has a row for each phase, and profiles have a range in the domain spng.startup.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spng::instrument {

/// A phase that ended. Times in nanoseconds.
struct StartUpRow {
    std::string name;
    int depth = 0;          ///< 0, or how many phases this one is nested in
    std::int64_t start = 0; ///< since the process was started
    std::int64_t wall = 0;
    std::int64_t own_wall = 0; ///< without the phases inside
};

/// A phase, from construction to destruction, both on the same thread. Phases of one thread nest.
class StartUpPhase {
public:
    explicit StartUpPhase(const std::string& name);
    ~StartUpPhase();
    StartUpPhase(const StartUpPhase&) = delete;
    StartUpPhase& operator=(const StartUpPhase&) = delete;

private:
    struct Range;
    std::unique_ptr<const Range> m_range; ///< null without NVTX, and if the level is 0
    StartUpPhase* const m_outer;
    const std::int64_t m_begin;
    std::int64_t m_nested = 0; ///< wall time of the phases inside
    std::size_t m_row = 0;
};

/// Add a phase without a range, from the end of the latest phase to now; the first one begins with the process. For
/// phases before the recorder starts, which must be the first to use NVTX.
void end_first_phase(const std::string& name);

/// Return the name of the innermost phase that has not ended; empty if there is none. Thread-safe.
std::string current_start_up_phase();

/// Forget all phases that ended, for the report of another run. Call it outside of phases.
void forget_start_up();

/// Return all phases that ended, in the order of their starts.
std::vector<StartUpRow> start_up_rows();

} // namespace spng::instrument
