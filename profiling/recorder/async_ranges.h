// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/file/rows.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace spng::recorder {

/// Open start/end ranges, which may end on a different thread. Thread-safe.
class AsyncRanges {
public:
    /// Add an open range.
    /// @return id of the range, never 0
    std::uint64_t begin(NvtxRow row);
    /// Remove an open range and return its row as passed to begin(). Return nothing if the id is not open,
    /// for example when a range is ended twice.
    std::optional<NvtxRow> end(std::uint64_t id);
    /// Return the rows of all open ranges.
    std::vector<NvtxRow> open() const;
    void clear();

    /// Limit of ranges that are open at once. It bounds the memory of programs that never end their ranges.
    /// Beyond it, begin() drops the range and end() returns nothing for its id.
    static constexpr std::size_t max_open = 1 << 20;

private:
    /// Part of the ranges with a lock of its own, so that threads rarely wait for each other.
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<std::uint64_t, NvtxRow> open;
    };
    Shard& shard_of(std::uint64_t id) { return m_shards[id % m_shards.size()]; }

    std::array<Shard, 16> m_shards;
    std::atomic<std::uint64_t> m_next{1};
};

} // namespace spng::recorder
