// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <sys/mman.h>

#include <unordered_map>
#include <utility>

namespace spng {
namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t on_huge_pages = 4 * huge_page; // for smaller blocks rounding up wastes too much
constexpr std::size_t granule = std::size_t{256} << 10;

/// Maximum size of a block in units of the requested bytes. A large factor lets different sizes share blocks,
/// so less memory is unused: the peak of the process is 1.10 GB with 1.2, 0.98 GB with 1.5, 0.94 GB with 2
/// and with 3.
constexpr double room = 2;

/// Report an allocation to LibTorch's profiler if it is on, as LibTorch's own allocator does.
void tell_profiler(const BlockCache& cache, void* start, std::int64_t change) {
    if (c10::memoryProfilingEnabled()) {
        const std::size_t in_use = cache.bytes_in_use();
        c10::reportMemoryUsageToProfiler(start, change, in_use, in_use + cache.bytes_unused(),
                                         c10::Device(c10::kCPU));
    }
}

std::size_t rounded(std::size_t bytes) {
    const std::size_t unit = bytes >= on_huge_pages ? huge_page : granule;
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

struct BlockCache::Block {
    Block(BlockCache& the_owner, std::size_t the_bytes, void* the_start, void* the_mapping,
          std::size_t the_mapped_bytes)
        : owner(the_owner), bytes(the_bytes), start(the_start), mapping(the_mapping),
          mapped_bytes(the_mapped_bytes) {}
    ~Block() { munmap(mapping, mapped_bytes); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;

    BlockCache& owner;
    const std::size_t bytes;
    void* const start;
    void* const mapping; ///< may begin before `start`, which is aligned to a huge page
    const std::size_t mapped_bytes;
    std::uint64_t released_at = 0; ///< count of allocations before the release
};

/// The blocks in use of all caches, by address.
class BlocksInUse {
public:
    static BlocksInUse& instance() {
        static BlocksInUse& blocks = *new BlocksInUse; // never destroyed: tensors may outlive static objects
        return blocks;
    }
    void add(void* start, BlockCache::Block* block) {
        const std::lock_guard lock(m_mutex);
        m_blocks.emplace(start, block);
    }
    /// Return null for an address that is not in use.
    BlockCache::Block* take(void* start) {
        const std::lock_guard lock(m_mutex);
        const auto node = m_blocks.extract(start);
        return node.empty() ? nullptr : node.mapped();
    }

private:
    std::mutex m_mutex;
    std::unordered_map<void*, BlockCache::Block*> m_blocks;
};

BlockCache::BlockCache() = default;
BlockCache::~BlockCache() = default;

c10::DataPtr BlockCache::allocate(std::size_t bytes) {
    if (bytes >= smallest) {
        if (auto block = take(rounded(bytes))) {
            void* const start = block->start;
            tell_profiler(*this, start, static_cast<std::int64_t>(block->bytes));
            BlocksInUse::instance().add(start, block.release());
            return {start, start, &BlockCache::release, c10::Device(c10::kCPU)};
        }
    }
    return c10::GetDefaultCPUAllocator()->allocate(bytes);
}

c10::DeleterFnPtr BlockCache::raw_deleter() const {
    return &BlockCache::release_raw;
}

void BlockCache::copy_data(void* to, const void* from, std::size_t bytes) const {
    default_copy_data(to, from, bytes);
}

void BlockCache::release_unused() {
    const std::lock_guard lock(m_mutex);
    unmap_unused(0);
}

std::size_t BlockCache::bytes_in_use() const {
    const std::lock_guard lock(m_mutex);
    return m_bytes_in_use;
}

std::size_t BlockCache::bytes_unused() const {
    const std::lock_guard lock(m_mutex);
    return m_bytes_unused;
}

/// Return the smallest unused block that is large enough, else a new one; null if the system has no memory.
std::unique_ptr<BlockCache::Block> BlockCache::take(std::size_t bytes) {
    const std::lock_guard lock(m_mutex);
    ++m_allocations;
    std::unique_ptr<Block> block;
    const auto found = m_unused.lower_bound(bytes);
    if (found != m_unused.end() && static_cast<double>(found->first) <= room * static_cast<double>(bytes)) {
        block = std::move(found->second);
        m_bytes_unused -= block->bytes;
        m_unused.erase(found);
    } else {
        unmap_unused(max_idle_allocations);
        block = map(bytes);
        if (!block) {
            unmap_unused(0);
            block = map(bytes);
        }
    }
    m_bytes_in_use += block ? block->bytes : 0;
    return block;
}

std::unique_ptr<BlockCache::Block> BlockCache::map(std::size_t bytes) {
    const bool is_huge = bytes >= on_huge_pages;
    const std::size_t mapped = bytes + (is_huge ? huge_page : 0);
    void* const mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return nullptr;
    }
    auto* start = static_cast<char*>(mapping);
    if (is_huge) {
        start += (huge_page - reinterpret_cast<std::uintptr_t>(start) % huge_page) % huge_page;
        madvise(start, bytes, MADV_HUGEPAGE); // optional: without huge pages the system uses small ones
    }
    return std::make_unique<Block>(*this, bytes, start, mapping, mapped);
}

void BlockCache::unmap_unused(std::uint64_t idle_for) {
    std::erase_if(m_unused, [&](const auto& entry) {
        if (m_allocations - entry.second->released_at < idle_for) {
            return false;
        }
        m_bytes_unused -= entry.first;
        return true;
    });
}

void BlockCache::release(void* start) {
    std::unique_ptr<Block> block(BlocksInUse::instance().take(start));
    BlockCache& owner = block->owner;
    owner.keep(std::move(block));
}

void BlockCache::release_raw(void* start) {
    // Blocks of the cache begin at a page. Few others do, and only these need the search.
    if (reinterpret_cast<std::uintptr_t>(start) % page == 0) {
        if (std::unique_ptr<Block> block(BlocksInUse::instance().take(start)); block) {
            BlockCache& owner = block->owner;
            owner.keep(std::move(block));
            return;
        }
    }
    c10::GetDefaultCPUAllocator()->raw_deleter()(start);
}

void BlockCache::keep(std::unique_ptr<Block> block) {
    tell_profiler(*this, block->start, -static_cast<std::int64_t>(block->bytes));
    const std::lock_guard lock(m_mutex);
    block->released_at = m_allocations;
    m_bytes_in_use -= block->bytes;
    m_bytes_unused += block->bytes;
    const std::size_t bytes = block->bytes;
    m_unused.emplace(bytes, std::move(block));
}

} // namespace spng
