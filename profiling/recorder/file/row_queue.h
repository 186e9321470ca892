// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace spng::recorder {

/// Queue of rows of one table that wait to be written. It suits rows that arrive a few thousand times per
/// second or in batches; ranges use thread buffers. Thread-safe.
template <class Row>
class RowQueue {
public:
    /// Clear the queue and set its memory limit [bytes].
    void reset(std::int64_t bytes) {
        const std::lock_guard lock(m_mutex);
        m_rows.clear();
        m_dropped = 0;
        m_limit = static_cast<std::size_t>(bytes) / sizeof(Row);
    }

    /// Add rows. Drop and count rows beyond the limit.
    void add(std::span<const Row> rows) {
        const std::lock_guard lock(m_mutex);
        const std::size_t room = m_limit - std::min(m_limit, m_rows.size());
        const std::size_t taken = std::min(room, rows.size());
        m_rows.insert(m_rows.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
        m_dropped += rows.size() - taken;
    }

    /// Move all rows out of the queue.
    std::vector<Row> take() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_rows, {});
    }

    /// Return the count of dropped rows since reset().
    std::uint64_t dropped() const {
        const std::lock_guard lock(m_mutex);
        return m_dropped;
    }

private:
    mutable std::mutex m_mutex;
    std::vector<Row> m_rows;
    std::size_t m_limit = 0;
    std::uint64_t m_dropped = 0;
};

} // namespace spng::recorder
