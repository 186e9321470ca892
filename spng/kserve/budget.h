// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits that the requests of a server share. Header-only, for the plugin for gRPC too.

#include <atomic>
#include <cstddef>
#include <memory>

namespace spng::kserve {

/// An amount, such as memory, that is in use. Copies share it. Thread-safe.
class Budget {
public:
    /// Reserve an amount until the last copy of the pointer is gone; return null if too much is in use.
    /// @param limit  of all reservations together
    std::shared_ptr<const void> reserve(std::size_t amount, std::size_t limit) const {
        std::size_t used = *m_used;
        do {
            if (used > limit || amount > limit - used) {
                return nullptr;
            }
        } while (!m_used->compare_exchange_weak(used, used + amount));
        return {m_used.get(), [counter = m_used, amount](const void*) { *counter -= amount; }};
    }

private:
    std::shared_ptr<std::atomic<std::size_t>> m_used = std::make_shared<std::atomic<std::size_t>>(0);
};

} // namespace spng::kserve
