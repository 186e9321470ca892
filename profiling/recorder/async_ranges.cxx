#include "profiling/recorder/async_ranges.h"

namespace spng::recorder {

std::uint64_t AsyncRanges::begin(NvtxRow row) {
    const std::uint64_t number = m_next++;
    row.range = static_cast<std::uint32_t>(number);
    Shard& place = shard(number);
    const std::lock_guard lock(place.mutex);
    if (place.open.size() < most / m_shards.size()) {
        place.open.emplace(number, row);
    }
    return number;
}

std::optional<NvtxRow> AsyncRanges::end(std::uint64_t number) {
    Shard& place = shard(number);
    const std::lock_guard lock(place.mutex);
    const auto found = place.open.find(number);
    if (found == place.open.end()) {
        return std::nullopt;
    }
    const NvtxRow row = found->second;
    place.open.erase(found);
    return row;
}

std::vector<NvtxRow> AsyncRanges::open() const {
    std::vector<NvtxRow> rows;
    for (const Shard& place : m_shards) {
        const std::lock_guard lock(place.mutex);
        for (const auto& [number, row] : place.open) {
            rows.push_back(row);
        }
    }
    return rows;
}

void AsyncRanges::clear() {
    for (Shard& place : m_shards) {
        const std::lock_guard lock(place.mutex);
        place.open.clear();
    }
}

} // namespace spng::recorder
