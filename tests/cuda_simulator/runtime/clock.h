// SPDX-License-Identifier: Apache-2.0
#pragma once
// Vector clocks: which operations are ordered before which, whatever order they happened to run in.
// Participants are the streams and the host. All threads of the host are one participant, because their
// synchronization among each other is not seen.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cuda_simulator {

/// A point in the work of one participant.
struct Moment {
    std::size_t participant = 0;
    std::uint64_t step = 0;
};

class Clock {
public:
    /// Count of a participant's operations that are known to be done.
    std::uint64_t of(std::size_t participant) const {
        return participant < m_steps.size() ? m_steps[participant] : 0;
    }
    bool knows(Moment moment) const { return of(moment.participant) >= moment.step; }
    /// Begin the participant's next operation.
    Moment advance(std::size_t participant) {
        m_steps.resize(std::max(m_steps.size(), participant + 1));
        return {participant, ++m_steps[participant]};
    }
    /// All that `other` knows is known here too.
    void join(const Clock& other) {
        m_steps.resize(std::max(m_steps.size(), other.m_steps.size()));
        for (std::size_t i = 0; i < other.m_steps.size(); ++i) {
            m_steps[i] = std::max(m_steps[i], other.m_steps[i]);
        }
    }

private:
    std::vector<std::uint64_t> m_steps;
};

} // namespace cuda_simulator
