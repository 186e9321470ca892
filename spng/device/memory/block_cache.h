// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of large blocks of host memory, kept for the next event.

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace spng {

/// Allocator of CPU tensors that keeps released blocks of 1 MB and more, and reuses each as a whole. Events
/// need the same sizes again and again: after the first events no page is new, and memory does not fragment
/// as a heap does whose neighbours live for different times. Smaller blocks come from another allocator.
/// Large ones use huge pages if the system offers them.
///
/// A block that was unused for `max_idle_allocations` is returned to the system when a new one is needed, so
/// the blocks of another readout length do not stay forever. Thread-safe. Must outlive its blocks.
///
/// Complete as LibTorch's own allocator: quantised networks and serialisation release blocks by their address alone.
class BlockCache final : public c10::Allocator {
public:
    static constexpr std::size_t smallest = std::size_t{1} << 20;
    /// counted in large allocations, of which an event has about a hundred
    static constexpr std::uint64_t max_idle_allocations = 2000;

    /// Smaller blocks, and large ones if the system has no memory left, come from LibTorch's own allocator.
    BlockCache();
    ~BlockCache() override;

    c10::DataPtr allocate(std::size_t bytes) override;
    /// Return a function that releases a block of this cache, or of LibTorch's own allocator, by its address.
    c10::DeleterFnPtr raw_deleter() const override;
    void copy_data(void* to, const void* from, std::size_t bytes) const override;

    /// Return all unused blocks to the system.
    void release_unused();

    /// Return the bytes of large blocks in use, and of those kept for reuse.
    std::size_t bytes_in_use() const;
    std::size_t bytes_unused() const;

    struct Block;

private:
    static void release(void* start);
    static void release_raw(void* start);
    void keep(std::unique_ptr<Block> block);
    std::unique_ptr<Block> take(std::size_t bytes);
    std::unique_ptr<Block> map(std::size_t bytes);
    void unmap_unused(std::uint64_t idle_for);

    mutable std::mutex m_mutex;
    std::multimap<std::size_t, std::unique_ptr<Block>> m_unused; ///< by size
    std::uint64_t m_allocations = 0;
    std::size_t m_bytes_in_use = 0;
    std::size_t m_bytes_unused = 0;
};

} // namespace spng
