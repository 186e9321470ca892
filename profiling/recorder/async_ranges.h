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

/// Open start/end ranges, which may end on another thread than they began on. Thread-safe.
class AsyncRanges {
public:
    /// @return the number of the range, never 0
    std::uint64_t begin(NvtxRow row);
    /// The row as it was begun; nothing for a number that is not open, as after a second end.
    std::optional<NvtxRow> end(std::uint64_t number);
    std::vector<NvtxRow> open() const;
    void clear();

    /// Ranges that may be open at once; a program that never ends them must not fill the memory. Beyond it,
    /// begin() forgets the range, and its end finds nothing.
    static constexpr std::size_t most = 1 << 20;

private:
    /// Several, so that threads hardly ever wait for each other.
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_map<std::uint64_t, NvtxRow> open;
    };
    Shard& shard(std::uint64_t number) { return m_shards[number % m_shards.size()]; }

    std::array<Shard, 16> m_shards;
    std::atomic<std::uint64_t> m_next{1};
};

} // namespace spng::recorder
