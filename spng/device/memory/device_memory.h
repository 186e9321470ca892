#pragma once
// How much memory a device has, and giving back what is kept but not used.

#include <c10/core/Device.h>

#include <cstdint>

namespace spng {

/// Bytes; -1 where nothing tells.
struct DeviceMemory {
    std::int64_t free = -1;  ///< that a process could take now
    std::int64_t total = -1; ///< that there is
};

/// Of a CUDA device whose libraries are loaded: as the driver says. Of the CPU: the machine's memory, or what
/// limits the process further (its control group, its address space).
DeviceMemory device_memory(c10::Device device);

/// Return to the system what allocators keep for later use. Slow; for when memory ran out.
void release_cached_memory(c10::Device device);

} // namespace spng
