#pragma once
// Large blocks of host memory that stay with the process for the next event.

#include <c10/core/Allocator.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace spng {

/// An allocator of CPU tensors that keeps blocks of a megabyte and more when they are released and gives them
/// out again, each as a whole: since events need the same sizes again and again, no page is new after the
/// first ones, and memory cannot crumble as a heap does whose neighbours live for different times. Smaller
/// blocks are passed on. Large ones lie on huge pages where the system has them on request.
///
/// A block that was of no use for `patience` allocations is returned to the system when a new one is needed;
/// so the blocks of a readout of another length do not stay for ever. Thread-safe. Never to be destroyed
/// while blocks are out.
class BlockCache final : public c10::Allocator {
public:
    static constexpr std::size_t smallest = std::size_t{1} << 20;
    static constexpr std::uint64_t patience = 2000; ///< large allocations; an event has about a hundred

    /// @param small  where smaller blocks come from, and large ones when the system has no memory left
    explicit BlockCache(c10::Allocator& small);
    ~BlockCache() override;

    c10::DataPtr allocate(std::size_t bytes) override;
    /// None: what a data pointer says is not enough to release it.
    c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override;

    /// Return all blocks that wait for their next use to the system.
    void release_waiting();

    /// Bytes of large blocks that are out, and that wait for their next use.
    std::size_t bytes_in_use() const;
    std::size_t bytes_waiting() const;

private:
    struct Block;

    static void release(void* block);
    std::unique_ptr<Block> take(std::size_t bytes);
    std::unique_ptr<Block> map(std::size_t bytes);
    void unmap_unused(std::uint64_t idle_for);

    c10::Allocator& m_small;
    mutable std::mutex m_mutex;
    std::multimap<std::size_t, std::unique_ptr<Block>> m_waiting; ///< by size
    std::uint64_t m_allocations = 0;
    std::size_t m_bytes_in_use = 0;
    std::size_t m_bytes_waiting = 0;
};

} // namespace spng
