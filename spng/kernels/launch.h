// SPDX-License-Identifier: Apache-2.0
#pragma once
// Start a kernel from the host side of an operator. This header does not use CUDA. libWireCellSpngCuda.so,
// loaded for a CUDA device, sets a launcher that calls the CUDA runtime. Tests set one that runs the kernels
// on the CPU (tests/kernels/emulator), so they check the work of the host without a device: shapes, strides,
// size of shared memory, order and types of the arguments.

#include "spng/kernels/sizes.h"

#include <c10/core/Device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spng::kernels {

constexpr std::int64_t threads_of_block = block_threads;
constexpr std::int64_t warps_of_block = block_warps;

/// Dynamic shared memory of a block that every device supports by default.
constexpr std::int64_t max_shared_bytes = 48 * 1024;

/// One launch on the current stream of a device.
struct Launch {
    const char* kernel;  ///< name of the __global__ function
    std::int64_t blocks; ///< 1 to 2^31 - 1
    std::int64_t shared_bytes;
    c10::Device device;
    std::span<void*> arguments;               ///< address of the value of each parameter
    std::span<const std::size_t> value_bytes; ///< of each parameter, for checks
};

using Launcher = void (*)(const Launch&);

/// Returns the dynamic shared memory that a block on this device may have on request [bytes].
using SharedLimit = std::int64_t (*)(c10::Device);

/// Set the launcher of all kernels, and the limit of its devices.
void set_launcher(Launcher launcher, SharedLimit limit);

/// Return the largest Launch::shared_bytes of a device, at least max_shared_bytes.
std::int64_t shared_bytes_limit(c10::Device device);

/// Start a kernel.
/// @throws Error(Device), naming the kernel, if it cannot be started
void launch(const Launch& launch);

/// Return the count of blocks for this many units of work, at most the maximum of a grid. Kernels loop over the
/// grid.
std::int64_t blocks_for(std::int64_t units, std::int64_t units_of_a_block);

/// Start a kernel with arguments of the types of its parameters: pointers, std::int64_t for Index, int,
/// float, double.
template <class... Arguments>
void launch(const char* kernel, c10::Device device, std::int64_t blocks, std::int64_t shared_bytes,
            Arguments... arguments) {
    std::array<void*, sizeof...(Arguments)> addresses{
        const_cast<void*>(static_cast<const void*>(&arguments))...};
    constexpr std::array<std::size_t, sizeof...(Arguments)> bytes{sizeof(Arguments)...};
    launch(Launch{kernel, blocks, shared_bytes, device, addresses, bytes});
}

} // namespace spng::kernels
