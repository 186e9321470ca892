// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/thread_buffer.h"

#include "profiling/recorder/clock.h"
#include "profiling/recorder/file/string_table.h"

#include <functional>
#include <mutex>
#include <new>
#include <utility>

namespace spng::recorder {

void Losses::add(const Losses& other) {
    no_memory += other.no_memory;
    over_limit += other.over_limit;
    too_deep += other.too_deep;
    unbalanced_pop += other.unbalanced_pop;
}

ThreadBuffer::ThreadBuffer(std::uint32_t thread, ChunkPool& pool, std::atomic<std::int64_t>& rows_left)
    : m_thread(thread), m_pool(pool), m_rows_left(rows_left) {
    m_open.reserve(64);
    m_full.reserve(64);
}

int ThreadBuffer::push(const NvtxRow& row, bool recorded) noexcept {
    const std::lock_guard lock(m_lock);
    int depth = 0;
    for (auto open = m_open.rbegin(); open != m_open.rend(); ++open) {
        if (open->row.domain == row.domain) {
            depth = open->depth + 1;
            break;
        }
    }
    if (m_open.size() >= max_depth) {
        ++m_losses.too_deep;
        ++m_too_deep_now;
        return depth;
    }
    Open& open = m_open.emplace_back(Open{row, depth, recorded && !m_muted});
    open.row.thread = m_thread;
    open.row.start = now();
    return depth;
}

int ThreadBuffer::pop(std::uint16_t domain) noexcept {
    const TimePoint end = now();
    const std::lock_guard lock(m_lock);
    if (m_too_deep_now > 0) {
        --m_too_deep_now;
        return static_cast<int>(m_open.size());
    }
    for (auto open = m_open.rbegin(); open != m_open.rend(); ++open) {
        if (open->row.domain == domain) {
            const int depth = open->depth;
            if (open->recorded) {
                open->row.end = end;
                store(open->row);
            }
            m_open.erase(std::next(open).base());
            return depth;
        }
    }
    ++m_losses.unbalanced_pop;
    return -1;
}

void ThreadBuffer::add(const NvtxRow& row) noexcept {
    const std::lock_guard lock(m_lock);
    store(row);
}

/// The caller holds the lock.
void ThreadBuffer::store(const NvtxRow& row) noexcept {
    if (m_current != nullptr && m_current->used < Chunk::capacity) {
        m_current->rows[m_current->used++] = row;
        return;
    }
    // Reserve the rows of a whole chunk at once, so that threads do not share a counter per row.
    constexpr auto share = static_cast<std::int64_t>(Chunk::capacity);
    const bool in_limit = m_rows_left.fetch_sub(share, std::memory_order_relaxed) > 0;
    ChunkPtr next = in_limit ? m_pool.take() : nullptr;
    if (next == nullptr) {
        m_rows_left.fetch_add(share, std::memory_order_relaxed);
        ++(in_limit ? m_losses.no_memory : m_losses.over_limit);
        return;
    }
    if (m_current != nullptr) {
        m_full.push_back(std::move(m_current));
    }
    m_current = std::move(next);
    m_current->rows[m_current->used++] = row;
}

StringId ThreadBuffer::intern(std::string_view name, StringTable& strings) {
    const std::size_t hash = std::hash<std::string_view>{}(name);
    Cached& cached = m_cache[hash % m_cache.size()];
    if (cached.text == nullptr || cached.hash != hash || *cached.text != name) {
        const StringId id = strings.intern(name);
        cached = {hash, &strings.at(id), id};
    }
    return cached.id;
}

bool ThreadBuffer::mute(bool muted) noexcept {
    return std::exchange(m_muted, muted);
}

void ThreadBuffer::thread_ended() noexcept {
    const std::lock_guard lock(m_lock);
    m_thread_ended = true;
}

void ThreadBuffer::reset() {
    Taken old = take();
    for (auto& chunk : old.chunks) {
        m_pool.give_back(std::move(chunk));
    }
    const std::lock_guard lock(m_lock);
    for (Open& open : m_open) {
        open.recorded = false;
    }
}

ThreadBuffer::Taken ThreadBuffer::take() {
    Taken taken;
    taken.open.reserve(64);
    std::vector<ChunkPtr> next_full;
    next_full.reserve(64);
    const std::lock_guard lock(m_lock);
    taken.chunks = std::exchange(m_full, std::move(next_full));
    if (m_current != nullptr && m_current->used > 0) {
        m_rows_left.fetch_add(static_cast<std::int64_t>(Chunk::capacity - m_current->used),
                              std::memory_order_relaxed);
        taken.chunks.push_back(std::move(m_current));
    }
    for (const Open& open : m_open) {
        if (open.recorded) {
            taken.open.push_back(open.row);
        }
    }
    taken.losses = std::exchange(m_losses, {});
    taken.thread_ended = m_thread_ended;
    return taken;
}

} // namespace spng::recorder
