// SPDX-License-Identifier: Apache-2.0
#pragma once
// Query the memory of a device, and return unused memory to it.

#include <c10/core/Device.h>

#include <cstdint>

namespace spng {

/// Amounts in bytes; -1 if unknown.
struct DeviceMemory {
    std::int64_t free = -1; ///< available to a process now
    std::int64_t total = -1;
};

/// Return the memory of a device: for CUDA, whose libraries must be loaded, from the driver; for the CPU, the
/// machine's memory or a lower limit of the process (its control group, its address space).
DeviceMemory device_memory(c10::Device device);

/// Return true if the address space of this process has a limit (`ulimit -v`). LibTorch's libraries do not report an
/// exhausted address space, they crash.
bool address_space_is_limited();

/// Return the unused memory of allocators to the system: on a device its own, not that of other devices. Slow:
/// call it only when memory ran out.
void release_cached_memory(c10::Device device);

} // namespace spng
