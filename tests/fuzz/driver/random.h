// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace spng::fuzz {

/// Reproducible random numbers (splitmix64). Unlike the distributions of the standard library they are the same on
/// every platform.
class Random {
public:
    explicit Random(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t next() {
        m_state += 0x9E3779B97F4A7C15;
        std::uint64_t value = m_state;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        return value ^ (value >> 31);
    }
    /// Return an integer below `end`; 0 if `end` is 0.
    std::size_t below(std::size_t end) { return end == 0 ? 0 : static_cast<std::size_t>(next() % end); }
    bool one_in(std::size_t count) { return below(count) == 0; }
    template <class List>
    const auto& pick(const List& list) {
        return list[below(std::size(list))];
    }

private:
    std::uint64_t m_state;
};

} // namespace spng::fuzz
