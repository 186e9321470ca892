// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/chunk_pool.h"

#include <algorithm>
#include <new>

namespace spng::recorder {

void ChunkPool::set_limit(std::int64_t bytes, sem_t* fill_signal) {
    const std::lock_guard lock(m_mutex);
    m_fill_signal = fill_signal;
    m_limit = std::max<std::size_t>(1, static_cast<std::size_t>(bytes) / sizeof(Chunk));
}

ChunkPtr ChunkPool::take() {
    const std::lock_guard lock(m_mutex);
    if (m_in_use >= m_limit) {
        return nullptr;
    }
    ChunkPtr chunk;
    if (!m_free.empty()) {
        chunk = std::move(m_free.back());
        m_free.pop_back();
    } else {
        chunk.reset(new (std::nothrow) Chunk);
    }
    m_in_use += chunk != nullptr ? 1 : 0;
    if (m_fill_signal != nullptr && m_in_use == m_limit / 4 + 1) {
        sem_post(m_fill_signal);
    }
    return chunk;
}

void ChunkPool::give_back(ChunkPtr chunk) {
    const std::lock_guard lock(m_mutex);
    --m_in_use;
    chunk->used = 0;
    m_free.push_back(std::move(chunk));
}

} // namespace spng::recorder
