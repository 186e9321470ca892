// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/file/rows.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <vector>

namespace spng::recorder {

/// Rows of one thread, in the order of their ends.
struct Chunk {
    static constexpr std::size_t capacity = 1024;
    std::array<NvtxRow, capacity> rows;
    std::size_t used = 0;
};
using ChunkPtr = std::unique_ptr<Chunk>;

/// Pool of reusable chunks. A steady stream of ranges allocates no memory and touches no new page.
/// Thread-safe.
class ChunkPool {
public:
    /// @param bytes        limit for all chunks together
    /// @param fill_signal  posted when a quarter of the limit is in use, so that the writer empties the
    ///                     chunks in time; may be null
    void set_limit(std::int64_t bytes, sem_t* fill_signal);
    /// Return an empty chunk, or null if the limit is reached or memory is exhausted.
    ChunkPtr take();
    /// Return a chunk to the pool.
    void give_back(ChunkPtr chunk);

private:
    std::mutex m_mutex;
    std::vector<ChunkPtr> m_free;
    std::size_t m_in_use = 0;
    std::size_t m_limit = 0;
    sem_t* m_fill_signal = nullptr;
};

} // namespace spng::recorder
