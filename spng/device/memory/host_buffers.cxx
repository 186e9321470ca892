#include "spng/device/memory/host_buffers.h"

#include "spng/device/memory/block_cache.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <mutex>

namespace spng {
namespace {

/// What is not a tensor, such as the scratch memory of transforms and networks. glibc serves blocks above its
/// threshold by mmap and unmaps them when freed. Without mmap they come from the heap, which keeps them as
/// long as it is not trimmed. One arena: buffers must not pile up in one arena per thread.
void keep_the_heap() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 2047 * 1024 * 1024);
    mallopt(M_TOP_PAD, 64 * 1024 * 1024);
    mallopt(M_ARENA_MAX, 1);
}

/// Never destroyed: tensors may be released after all static objects.
BlockCache& block_cache() {
    static BlockCache& cache = *new BlockCache(*c10::GetDefaultCPUAllocator());
    return cache;
}

} // namespace

void reuse_host_buffers() {
    static std::once_flag once;
    std::call_once(once, [] {
        keep_the_heap();
        // Not where somebody else, such as a counter of allocations, is in place already: it would count no
        // more.
        if (c10::GetAllocator(c10::kCPU) == c10::GetDefaultCPUAllocator()) {
            c10::SetAllocator(c10::kCPU, &block_cache(), 0);
        }
    });
}

void release_host_buffers() {
    block_cache().release_waiting();
    malloc_trim(0);
}

} // namespace spng
