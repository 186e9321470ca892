// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/device_memory.h"

#include "spng/core/files/proc_files.h"
#include "spng/device/memory/host_buffers.h"

#include <c10/core/AllocatorConfig.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

namespace spng {
namespace {

constexpr std::int64_t unknown = -1;

/// Return the first integer in a file; `unknown` for a missing file and for "max".
std::int64_t integer_in(const char* file) {
    std::ifstream stream(file);
    std::int64_t value = unknown;
    return stream >> value ? value : unknown;
}

void limit(DeviceMemory& memory, std::int64_t total, std::int64_t used) {
    if (total == unknown || used == unknown) {
        return;
    }
    memory.total = memory.total == unknown ? total : std::min(memory.total, total);
    const std::int64_t free = std::max<std::int64_t>(total - used, 0);
    memory.free = memory.free == unknown ? free : std::min(memory.free, free);
}

std::int64_t address_space_limit() {
    rlimit limits{};
    if (getrlimit(RLIMIT_AS, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) {
        return unknown;
    }
    return static_cast<std::int64_t>(limits.rlim_cur);
}

std::int64_t address_space_used() {
    const std::int64_t pages = integer_in("/proc/self/statm"); // its first integer
    return pages == unknown ? unknown : pages * sysconf(_SC_PAGESIZE);
}

DeviceMemory host_memory() {
    DeviceMemory memory{proc_bytes("/proc/meminfo", "MemAvailable"), proc_bytes("/proc/meminfo", "MemTotal")};
    // These files exist only inside a container or a control group.
    limit(memory, integer_in("/sys/fs/cgroup/memory.max"), integer_in("/sys/fs/cgroup/memory.current"));
    limit(memory, integer_in("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
          integer_in("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
    limit(memory, address_space_limit(), address_space_used());
    return memory;
}

/// Make LibTorch return the unused memory of one device. Its emptyCache() does so for all devices, whose jobs
/// would then allocate again. A request that no device can fulfil makes the allocator of the current device
/// return what it keeps, before it fails.
void empty_cache_of(c10::Device device) {
    constexpr std::size_t more_than_any_device_has = std::size_t{1} << 50;
    const c10::DeviceGuard on_device(device);
    try {
        c10::getDeviceAllocator(device.type())->allocate(more_than_any_device_has);
    } catch (const c10::OutOfMemoryError&) {
        // Expected.
    }
}

/// Whether a request for too much memory fails at once, not after it has taken all there is piece by piece.
bool fails_at_once() {
    return !c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments();
}

} // namespace

DeviceMemory device_memory(c10::Device device) {
    if (device.is_cpu()) {
        return host_memory();
    }
    try {
        const auto [free, total] = c10::getDeviceAllocator(device.type())->getMemoryInfo(device.index());
        return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
    } catch (const c10::Error&) {
        return {}; // an allocator without this information
    }
}

bool address_space_is_limited() {
    return address_space_limit() != unknown;
}

void release_cached_memory(c10::Device device) {
    if (device.is_cpu()) {
        release_host_buffers();
        return;
    }
    try {
        const bool has_others = c10::impl::VirtualGuardImpl(device.type()).deviceCount() > 1;
        if (has_others && fails_at_once()) {
            empty_cache_of(device);
        } else {
            c10::getDeviceAllocator(device.type())->emptyCache();
        }
    } catch (const c10::Error&) {
        // The device is lost; the next use of it reports that.
    }
}

} // namespace spng
