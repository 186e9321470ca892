// SPDX-License-Identifier: Apache-2.0
// Large blocks of host memory are reused, small ones are not cached, and blocks unused for long are released.

#include "spng/device/memory/block_cache.h"

#include "spng/instrument/page_faults.h"

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr std::size_t mb = std::size_t{1} << 20;

TEST(BlockCache, ReleasedBlockIsReusedWithoutPageFaults) {
    BlockCache cache;
    void* first = nullptr;
    {
        const auto block = cache.allocate(61 * mb);
        first = block.get();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
        std::memset(first, 1, 61 * mb);
        EXPECT_GE(cache.bytes_in_use(), 61 * mb);
    }
    EXPECT_EQ(cache.bytes_in_use(), 0u);
    EXPECT_GE(cache.bytes_unused(), 61 * mb);
    const std::int64_t faults = instrument::minor_page_faults();
    const auto again = cache.allocate(60 * mb);
    std::memset(again.get(), 2, 60 * mb);
    EXPECT_EQ(again.get(), first);
    EXPECT_LT(instrument::minor_page_faults() - faults, 50) << "15,000 pages of fresh memory";
}

TEST(BlockCache, BlocksInUseDoNotOverlap) {
    BlockCache cache;
    std::vector<c10::DataPtr> blocks;
    for (int i = 0; i < 5; ++i) {
        blocks.push_back(cache.allocate(3 * mb));
        std::memset(blocks.back().get(), i, 3 * mb);
    }
    for (int i = 0; i < 5; ++i) {
        const auto* bytes = static_cast<const char*>(blocks[static_cast<std::size_t>(i)].get());
        EXPECT_EQ(bytes[0], i);
        EXPECT_EQ(bytes[3 * mb - 1], i);
    }
}

TEST(BlockCache, MuchLargerBlockIsNotUsed) {
    BlockCache cache;
    void* const large = cache.allocate(40 * mb).get();
    EXPECT_NE(cache.allocate(10 * mb).get(), large);
    EXPECT_EQ(cache.allocate(30 * mb).get(), large);
}

TEST(BlockCache, SmallestFittingBlockIsUsed) {
    BlockCache cache;
    std::pair<void*, void*> both;
    {
        const auto larger = cache.allocate(24 * mb);
        const auto smaller = cache.allocate(20 * mb);
        both = {larger.get(), smaller.get()};
    }
    EXPECT_EQ(cache.allocate(18 * mb).get(), both.second);
    EXPECT_EQ(cache.allocate(22 * mb).get(), both.first);
}

TEST(BlockCache, UnusedBlocksCanBeReleased) {
    BlockCache cache;
    const auto out = cache.allocate(8 * mb);
    { const auto released = cache.allocate(40 * mb); }
    ASSERT_GE(cache.bytes_unused(), 40 * mb);
    cache.release_unused();
    EXPECT_EQ(cache.bytes_unused(), 0u);
    EXPECT_EQ(cache.bytes_in_use(), 8 * mb);
}

TEST(BlockCache, BlocksAreReleasedByTheirAddressAlone) {
    BlockCache cache;
    for (const std::size_t bytes :
         {std::size_t{64}, BlockCache::smallest - 1, BlockCache::smallest, 61 * mb}) {
        void* const start = cache.raw_allocate(bytes);
        std::memset(start, 3, bytes);
        EXPECT_EQ(cache.bytes_in_use() > 0, bytes >= BlockCache::smallest) << bytes;
        cache.raw_deallocate(start);
        EXPECT_EQ(cache.bytes_in_use(), 0u) << bytes;
    }
    EXPECT_GE(cache.bytes_unused(), 62 * mb) << "large blocks are kept";
    void* const foreign =
        c10::GetDefaultCPUAllocator()->raw_allocate(3 * mb); // made before the cache was installed
    cache.raw_deallocate(foreign);
}

TEST(BlockCache, SmallBlocksUseLibTorchsOwnAllocator) {
    BlockCache cache;
    const auto block = cache.allocate(BlockCache::smallest - 1);
    std::memset(block.get(), 0, BlockCache::smallest - 1);
    EXPECT_EQ(cache.bytes_in_use(), 0u);
    EXPECT_EQ(cache.allocate(0).get(), nullptr);
}

TEST(BlockCache, BlocksUnusedForLongAreReleased) {
    BlockCache cache;
    cache.allocate(100 * mb);
    for (std::uint64_t i = 0; i < BlockCache::max_idle_allocations; ++i) {
        cache.allocate(2 * mb);
    }
    EXPECT_GE(cache.bytes_unused(), 100 * mb) << "nothing new was needed";
    cache.allocate(300 * mb);
    EXPECT_LT(cache.bytes_unused(), 310 * mb)
        << "the block of 100 MB has gone, those of 2 MB and 300 MB wait";
}

TEST(BlockCache, IsThreadSafe) {
    BlockCache cache;
    const auto work = [&cache] {
        for (int i = 0; i < 300; ++i) {
            const auto block = cache.allocate((1 + static_cast<std::size_t>(i) % 4) * mb);
            auto* const bytes = static_cast<char*>(block.get());
            bytes[0] = static_cast<char>(i);
            std::this_thread::yield();
            ASSERT_EQ(bytes[0], static_cast<char>(i));
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(cache.bytes_in_use(), 0u);
    EXPECT_LE(cache.bytes_unused(), 2 * (1 + 2 + 3 + 4) * mb);
}

TEST(BlockCache, ExhaustedMemoryIsAnErrorOfLibTorch) {
    BlockCache cache;
    EXPECT_THROW(cache.allocate(std::size_t{1} << 50), c10::Error);
}

} // namespace
} // namespace spng
