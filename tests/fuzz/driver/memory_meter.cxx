// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver/memory_meter.h"

#include <atomic>
#include <cerrno>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The sanitizers have these functions; g++ comes without their header sanitizer/allocator_interface.h.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));
extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void* block);
#else
#include <malloc.h>
#endif

namespace {

std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> peak{0};

void count(std::int64_t bytes) {
    const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::int64_t largest = peak.load(std::memory_order_relaxed);
    while (now > largest && !peak.compare_exchange_weak(largest, now, std::memory_order_relaxed)) {
    }
}

} // namespace

namespace spng::fuzz {

std::int64_t live_bytes() {
    return live.load(std::memory_order_relaxed);
}

std::int64_t peak_bytes() {
    return peak.load(std::memory_order_relaxed);
}

void reset_peak() {
    peak.store(live_bytes(), std::memory_order_relaxed);
}

} // namespace spng::fuzz

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

void spng::fuzz::start_memory_meter() {
    __sanitizer_install_malloc_and_free_hooks(
        [](const volatile void*, std::size_t bytes) { count(static_cast<std::int64_t>(bytes)); },
        [](const volatile void* block) {
            count(-static_cast<std::int64_t>(__sanitizer_get_allocated_size(block)));
        });
}

#else

void spng::fuzz::start_memory_meter() {}

// The C library calls the functions of the program in place of its own.
extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t items, std::size_t bytes);
void* __libc_realloc(void* block, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* block);

static void* counted(void* block) {
    count(static_cast<std::int64_t>(malloc_usable_size(block)));
    return block;
}

void* malloc(std::size_t bytes) {
    return counted(__libc_malloc(bytes));
}

void* calloc(std::size_t items, std::size_t bytes) {
    return counted(__libc_calloc(items, bytes));
}

void* realloc(void* block, std::size_t bytes) {
    const auto before = static_cast<std::int64_t>(malloc_usable_size(block));
    void* const after = __libc_realloc(block, bytes);
    if (after != nullptr || bytes == 0) {
        count(-before);
        counted(after);
    }
    return after;
}

void* memalign(std::size_t alignment, std::size_t bytes) {
    return counted(__libc_memalign(alignment, bytes));
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return memalign(alignment, bytes);
}

int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
    *block = memalign(alignment, bytes);
    return *block != nullptr ? 0 : ENOMEM;
}

void free(void* block) {
    count(-static_cast<std::int64_t>(malloc_usable_size(block)));
    __libc_free(block);
}

} // extern "C"

#endif
