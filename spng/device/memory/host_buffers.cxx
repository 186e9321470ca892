// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/host_buffers.h"

#include "spng/device/memory/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <mutex>

namespace spng {
namespace {

/// Keep memory outside of tensors, such as the scratch memory of transforms and networks. glibc serves blocks
/// above a threshold by mmap and unmaps them when freed. Without mmap they come from the heap, which keeps
/// them until it is trimmed. Use one arena, so that buffers do not pile up in one arena per thread.
void keep_the_heap() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 2047 * 1024 * 1024);
    mallopt(M_TOP_PAD, 64 * 1024 * 1024);
    mallopt(M_ARENA_MAX, 1);
}

/// Return the cache. It is never destroyed: tensors may be released after all static objects.
BlockCache& block_cache() {
    static BlockCache& cache = *new BlockCache;
    return cache;
}

} // namespace

void reuse_host_buffers() {
    static std::once_flag once;
    std::call_once(once, [] {
        keep_the_heap();
        // Keep an allocator that somebody else, such as a counter of allocations, has installed.
        if (c10::GetAllocator(c10::kCPU) == c10::GetDefaultCPUAllocator()) {
            c10::SetAllocator(c10::kCPU, &block_cache(), 0);
        }
    });
}

void release_host_buffers() {
    block_cache().release_unused();
    malloc_trim(0);
}

} // namespace spng
