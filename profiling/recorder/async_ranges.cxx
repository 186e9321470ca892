// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/async_ranges.h"

namespace spng::recorder {

std::uint64_t AsyncRanges::begin(NvtxRow row) {
    const std::uint64_t id = m_next++;
    row.range = static_cast<std::uint32_t>(id);
    Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    if (shard.open.size() < max_open / m_shards.size()) {
        shard.open.emplace(id, row);
    }
    return id;
}

std::optional<NvtxRow> AsyncRanges::end(std::uint64_t id) {
    Shard& shard = shard_of(id);
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.open.find(id);
    if (found == shard.open.end()) {
        return std::nullopt;
    }
    const NvtxRow row = found->second;
    shard.open.erase(found);
    return row;
}

std::vector<NvtxRow> AsyncRanges::open() const {
    std::vector<NvtxRow> rows;
    for (const Shard& shard : m_shards) {
        const std::lock_guard lock(shard.mutex);
        for (const auto& [id, row] : shard.open) {
            rows.push_back(row);
        }
    }
    return rows;
}

void AsyncRanges::clear() {
    for (Shard& shard : m_shards) {
        const std::lock_guard lock(shard.mutex);
        shard.open.clear();
    }
}

} // namespace spng::recorder
