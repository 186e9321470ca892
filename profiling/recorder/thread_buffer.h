// SPDX-License-Identifier: Apache-2.0
#pragma once
// Buffer of one thread: its open ranges and its ended rows that are not written yet. The thread adds rows and
// the writer takes them; both hold the buffer's lock for a few dozen instructions.

#include "profiling/recorder/chunk_pool.h"
#include "profiling/recorder/file/rows.h"
#include "profiling/recorder/spin_lock.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

namespace spng::recorder {

class StringTable;

/// Counts of lost rows and unmatched pops.
struct Losses {
    std::uint64_t no_memory = 0;      ///< rows beyond the memory limit
    std::uint64_t over_limit = 0;     ///< rows beyond the row limit
    std::uint64_t too_deep = 0;       ///< ranges beyond ThreadBuffer::max_depth
    std::uint64_t unbalanced_pop = 0; ///< pops without a push

    void add(const Losses& other);
    /// Return the count of lost rows.
    std::uint64_t rows() const { return no_memory + over_limit + too_deep; }
};

/// Row buffer of one thread.
class ThreadBuffer {
public:
    /// @param thread     system id of the thread
    /// @param pool       source of chunks, shared by all threads
    /// @param rows_left  rows that all threads together may still record
    ThreadBuffer(std::uint32_t thread, ChunkPool& pool, std::atomic<std::int64_t>& rows_left);
    ThreadBuffer(const ThreadBuffer&) = delete;
    ThreadBuffer& operator=(const ThreadBuffer&) = delete;

    std::uint32_t thread() const { return m_thread; }

    // ---- called by the thread ----

    /// Begin a range. The start time is read last, so that the range does not contain this function.
    /// @param row       the range without times and thread
    /// @param recorded  false: track the range so that its pop matches, but do not record it
    /// @return depth of the range among the open ranges of its domain, from 0
    int push(const NvtxRow& row, bool recorded) noexcept;
    /// End the innermost open range of the domain.
    /// @return depth of the range, or -1 if no range of the domain is open
    int pop(std::uint16_t domain) noexcept;
    /// Add an ended row.
    void add(const NvtxRow& row) noexcept;
    /// Return the index of a name that is not registered. Recently used names are cached.
    StringId intern(std::string_view name, StringTable& strings);

    /// Enable or disable recording of this thread.
    /// @return the previous state
    bool mute(bool muted) noexcept;
    bool muted() const noexcept { return m_muted; }
    /// Mark the thread as ended, so that the writer deletes the buffer.
    void thread_ended() noexcept;

    // ---- called by other threads ----

    /// Drop the rows of an earlier session. Its open ranges stay tracked so that their pops match.
    void reset();

    struct Taken {
        std::vector<ChunkPtr> chunks; ///< return them with ChunkPool::give_back()
        std::vector<NvtxRow> open;    ///< recorded ranges that are still open, without an end
        Losses losses;                ///< losses since the previous take()
        bool thread_ended = false;
    };
    /// Move the ended rows out of the buffer.
    Taken take();

    /// Limit of ranges that a thread may have open at once. It bounds the memory of programs that never pop.
    static constexpr std::size_t max_depth = 16384;

private:
    struct Open {
        NvtxRow row;
        int depth;
        bool recorded;
    };
    struct Cached {
        std::size_t hash = 0;
        const std::string* text = nullptr;
        StringId id;
    };

    void store(const NvtxRow& row) noexcept;

    const std::uint32_t m_thread;
    ChunkPool& m_pool;
    std::atomic<std::int64_t>& m_rows_left;
    bool m_muted = false;           ///< used by the thread only
    std::array<Cached, 64> m_cache; ///< used by the thread only

    /// Guards the members below.
    SpinLock m_lock;
    ChunkPtr m_current;
    std::vector<ChunkPtr> m_full;
    std::vector<Open> m_open;
    std::uint64_t m_too_deep_now = 0; ///< open pushes beyond max_depth
    Losses m_losses;
    bool m_thread_ended = false;
};

} // namespace spng::recorder
