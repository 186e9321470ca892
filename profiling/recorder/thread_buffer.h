#pragma once
// What one thread has recorded and not yet written: its open ranges and its ended rows. The thread itself
// adds and the writer takes; both hold the buffer's lock for a few dozen instructions only.

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

/// What was lost, or came without its counterpart.
struct Losses {
    std::uint64_t no_memory = 0;      ///< rows beyond the memory limit
    std::uint64_t over_limit = 0;     ///< rows beyond the row limit
    std::uint64_t too_deep = 0;       ///< ranges nested deeper than a thread keeps
    std::uint64_t unbalanced_pop = 0; ///< pops without a push

    void add(const Losses& other);
    std::uint64_t rows() const { return no_memory + over_limit + too_deep; }
};

class ThreadBuffer {
public:
    /// @param thread  its system id
    /// @param rows_left  how many rows all threads may still record
    ThreadBuffer(std::uint32_t thread, ChunkPool& pool, std::atomic<std::int64_t>& rows_left);
    ThreadBuffer(const ThreadBuffer&) = delete;
    ThreadBuffer& operator=(const ThreadBuffer&) = delete;

    std::uint32_t thread() const { return m_thread; }

    // ---- called by the thread ----

    /// Begin a range. Its start is taken last, so that it does not contain this function.
    /// @param row  all but times and threads
    /// @param recorded  false: keep it for the balance only
    /// @return its depth among the open ranges of its domain, from 0
    int push(const NvtxRow& row, bool recorded) noexcept;
    /// End the innermost open range of the domain.
    /// @return the depth it had, or -1 when there was none
    int pop(std::uint16_t domain) noexcept;
    /// Add a complete row.
    void add(const NvtxRow& row) noexcept;
    /// The number of a name that is not registered.
    StringId intern(std::string_view name, StringTable& strings);

    /// Nothing that this thread does is recorded while it is muted. Returns what was set before.
    bool mute(bool muted) noexcept;
    bool muted() const noexcept { return m_muted; }
    void thread_ended() noexcept;

    // ---- called by others ----

    /// Drop what belongs to an earlier session; its open ranges are kept for the balance only.
    void reset();

    struct Taken {
        std::vector<ChunkPtr> chunks; ///< to be given back to the pool
        std::vector<NvtxRow> open;    ///< recorded ranges that are open now, without an end
        Losses losses;                ///< since they were taken last
        bool thread_ended = false;
    };
    Taken take();

    /// Ranges that a thread may have open at once; a program that never pops must not fill the memory.
    static constexpr std::size_t deepest = 16384;

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
    bool m_muted = false; ///< of the thread alone

    std::array<Cached, 64> m_cache; ///< of the thread alone

    SpinLock m_lock; ///< guards what follows
    ChunkPtr m_current;
    std::vector<ChunkPtr> m_full;
    std::vector<Open> m_open;
    std::uint64_t m_too_deep_now = 0; ///< pushes beyond `deepest` whose pops are still to come
    Losses m_losses;
    bool m_thread_ended = false;
};

} // namespace spng::recorder
