// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sources of a job, called by one thread, event after event.

#include "spng/engine/body/event_call.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace spng {

class Head {
public:
    Head(const Parts& parts, RunState& state) : m_parts(parts), m_state(state) {}

    /// Whether a source knows that no further event comes.
    bool at_end() const;
    /// Whether a source would wait for its next event.
    bool must_wait() const;

    enum class Poll { event, failed, ended };
    /// Call all sources for the next event. Reports the failure of a source to the state of the run.
    /// @param event  its index is given; gets the sets
    Poll poll(HostEvent& event);

private:
    const Parts& m_parts;
    RunState& m_state;
};

} // namespace spng
