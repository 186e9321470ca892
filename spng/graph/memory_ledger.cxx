// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/memory_ledger.h"

#include <numeric>

namespace spng {

const char* name_of(MemoryUse use) {
    static constexpr std::array names{"input", "spectra", "images", "masks", "network"};
    return names.at(static_cast<std::size_t>(use));
}

std::int64_t sum_of(const MemoryByUse& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

void MemoryLedger::add(MemoryUse use, std::int64_t bytes) {
    m_live.at(static_cast<std::size_t>(use)) += bytes;
    if (sum_of(m_live) > sum_of(m_peak)) {
        m_peak = m_live;
        m_peak_node = m_node;
    }
}

} // namespace spng
