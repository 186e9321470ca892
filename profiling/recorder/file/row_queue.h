#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace spng::recorder {

/// Rows of one table that wait to be written. For what comes a few thousand times per second, or in batches;
/// ranges have thread buffers. Thread-safe.
template <class Row>
class RowQueue {
public:
    /// Empty, and with room for so many bytes.
    void reset(std::int64_t bytes) {
        const std::lock_guard lock(m_mutex);
        m_rows.clear();
        m_dropped = 0;
        m_limit = static_cast<std::size_t>(bytes) / sizeof(Row);
    }

    void add(std::span<const Row> rows) {
        const std::lock_guard lock(m_mutex);
        const std::size_t room = m_limit - std::min(m_limit, m_rows.size());
        const std::size_t taken = std::min(room, rows.size());
        m_rows.insert(m_rows.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
        m_dropped += rows.size() - taken;
    }

    std::vector<Row> take() {
        const std::lock_guard lock(m_mutex);
        return std::exchange(m_rows, {});
    }

    /// Rows that found no room.
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
