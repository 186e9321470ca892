// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <sched.h>

namespace spng::recorder {

/// Spin lock for short sections (a few dozen instructions) with rare contention. An uncontended lock takes 6
/// ns, a std::mutex 20 ns.
class SpinLock {
public:
    void lock() noexcept {
        while (m_taken.test_and_set(std::memory_order_acquire)) {
            sched_yield();
        }
    }
    void unlock() noexcept { m_taken.clear(std::memory_order_release); }

private:
    std::atomic_flag m_taken;
};

} // namespace spng::recorder
