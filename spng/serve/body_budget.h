// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory of the requests that a server reads and holds at the moment.

#include "spng/kserve/http_stream.h"

#include <atomic>
#include <cstddef>
#include <memory>

namespace spng {

/// Memory of bodies that exist at the moment. Thread-safe.
class BodyBudget {
public:
    explicit BodyBudget(std::size_t bytes) : m_free(bytes) {}

    /// Return memory for a body; null if too much is in use.
    static std::shared_ptr<kserve::BodyMemory> take(const std::shared_ptr<BodyBudget>& budget,
                                                    std::size_t bytes, std::size_t json_bytes) {
        std::size_t free = budget->m_free;
        do {
            if (bytes > free) {
                return nullptr;
            }
        } while (!budget->m_free.compare_exchange_weak(free, free - bytes));
        const std::shared_ptr<void> reserved(nullptr, [budget, bytes](void*) { budget->m_free += bytes; });
        auto memory = std::make_unique<kserve::BodyMemory>(bytes, json_bytes);
        return {memory.release(), [reserved](kserve::BodyMemory* body) { delete body; }};
    }

private:
    std::atomic<std::size_t> m_free;
};

} // namespace spng
