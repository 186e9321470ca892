// SPDX-License-Identifier: Apache-2.0
#pragma once
// Count the cycles that accesses to shared memory take on a device, from the addresses of the emulated threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace spng::emulation {

/// Counts accesses to values of one size while it exists. Shared memory has 32 banks of 4 bytes; a warp accesses 128
/// bytes at once: 16 threads with 8 bytes each, or 8 with 16. They take as many cycles as there are different
/// values in the same bank. The n-th accesses of a warp's threads after a barrier belong together.
class BankCounter {
public:
    /// Accesses between two barriers.
    struct Pass {
        std::uint64_t cycles = 0, accesses = 0; ///< accesses: cycles without conflicts
        double ways() const { return static_cast<double>(cycles) / static_cast<double>(accesses); }
    };

    /// @param value_bytes  size of the values to count
    /// @param first_byte   of shared memory to count
    explicit BankCounter(std::size_t value_bytes, std::size_t first_byte = 0)
        : m_value_bytes(value_bytes), m_first_byte(first_byte), m_outer(current()) {
        current() = this;
    }
    ~BankCounter() { current() = m_outer; }
    BankCounter(const BankCounter&) = delete;
    BankCounter& operator=(const BankCounter&) = delete;

    /// Return the counter that exists, or null.
    static BankCounter*& current() {
        static BankCounter* counter = nullptr;
        return counter;
    }

    void note(unsigned thread, std::size_t value_bytes, std::size_t offset) {
        if (value_bytes == m_value_bytes && offset >= m_first_byte) {
            m_offsets.resize(std::max<std::size_t>(m_offsets.size(), thread + 1));
            m_offsets[thread].push_back(offset);
        }
    }

    /// All threads are at a barrier, or have ended.
    void end_pass() {
        const std::size_t together = bank_bytes / m_value_bytes;
        Pass pass;
        for (std::size_t first = 0; first < m_offsets.size(); first += together) {
            const std::size_t end = std::min(first + together, m_offsets.size());
            for (std::size_t access = 0; add_access(first, end, access, pass); ++access) {
            }
        }
        if (pass.accesses > 0) {
            m_passes.push_back(pass);
        }
        m_offsets.clear();
    }

    /// All passes with accesses so far.
    const std::vector<Pass>& passes() const { return m_passes; }
    Pass total() const {
        Pass sum;
        for (const Pass& pass : m_passes) {
            sum.cycles += pass.cycles;
            sum.accesses += pass.accesses;
        }
        return sum;
    }

private:
    static constexpr std::size_t bank_bytes = 128; ///< of all banks

    bool add_access(std::size_t first, std::size_t end, std::size_t access, Pass& pass) const {
        std::map<std::size_t, std::set<std::size_t>> offsets_of_bank;
        std::size_t cycles = 0;
        for (std::size_t thread = first; thread < end; ++thread) {
            if (access < m_offsets[thread].size()) {
                const std::size_t offset = m_offsets[thread][access];
                auto& offsets = offsets_of_bank[offset % bank_bytes / m_value_bytes];
                offsets.insert(offset);
                cycles = std::max(cycles, offsets.size());
            }
        }
        pass.cycles += cycles;
        pass.accesses += cycles > 0;
        return cycles > 0;
    }

    std::size_t m_value_bytes, m_first_byte;
    BankCounter* m_outer;
    std::vector<std::vector<std::size_t>> m_offsets; ///< of each thread's accesses since the last barrier
    std::vector<Pass> m_passes;
};

} // namespace spng::emulation
