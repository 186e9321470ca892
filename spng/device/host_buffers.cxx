#include "spng/device/host_buffers.h"

#include <malloc.h>

namespace spng {

void reuse_host_buffers() {
    // glibc serves blocks above its threshold by mmap and unmaps them when freed. Without mmap they come from
    // the heap, which keeps them as long as it is not trimmed. One arena: event buffers must not pile up in
    // one arena per thread.
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 2047 * 1024 * 1024);
    mallopt(M_TOP_PAD, 64 * 1024 * 1024);
    mallopt(M_ARENA_MAX, 1);
}

} // namespace spng
