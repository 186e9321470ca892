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

/// Rows of one thread, in the order in which they ended.
struct Chunk {
    static constexpr std::size_t capacity = 1024;
    std::array<NvtxRow, capacity> rows;
    std::size_t used = 0;
};
using ChunkPtr = std::unique_ptr<Chunk>;

/// Where threads get their chunks. Written chunks come back and are used again, so that a steady stream of
/// ranges allocates nothing and touches no new page. Thread-safe.
class ChunkPool {
public:
    /// @param bytes  that chunks may take together
    /// @param when_filling  is posted when a quarter of that is taken, so that they are written in time
    void set_limit(std::int64_t bytes, sem_t* when_filling);
    /// Null when the limit is reached.
    ChunkPtr take();
    void give_back(ChunkPtr chunk);

private:
    std::mutex m_mutex;
    std::vector<ChunkPtr> m_free;
    std::size_t m_out = 0; ///< taken and not given back
    std::size_t m_limit = 0;
    sem_t* m_when_filling = nullptr;
};

} // namespace spng::recorder
