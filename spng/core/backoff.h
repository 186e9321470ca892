// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pauses between tries of something that failed, such as a capture or a connection: each twice as long as the one before.

#include <algorithm>
#include <cstdint>

namespace spng {

/// Doubling pauses in any unit: events, calls or a time. Not thread-safe.
template <class Amount = std::uint64_t>
class Backoff {
public:
    /// @param first    the first pause
    /// @param longest  limit of later ones
    constexpr Backoff(Amount first, Amount longest) : m_next(first), m_first(first), m_longest(longest) {}

    /// Return the pause before the next try, and double the one after it.
    constexpr Amount next() {
        const Amount pause = m_next;
        m_next = std::min(m_next + m_next, m_longest);
        m_was_asked = true;
        return pause;
    }

    /// Tell whether no pause was returned since the start or since reset().
    constexpr bool is_fresh() const { return !m_was_asked; }

    /// Begin with the first pause again.
    constexpr void reset() { *this = Backoff(m_first, m_longest); }

private:
    Amount m_next, m_first, m_longest;
    bool m_was_asked = false;
};

} // namespace spng
