#pragma once
// How the host's side of an operator starts its kernel. Here is no CUDA: libWireCellSpngCuda.so, loaded when
// a CUDA device is asked for, puts in the launcher that talks to the CUDA runtime, the tests one that runs
// the kernels on the CPU (tests/kernels/emulator). So all that the host does - shapes, strides, room in
// shared memory, order and types of the arguments - is tested without a device.

#include "spng/kernels/sizes.h"

#include <c10/core/Device.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace spng::kernels {

constexpr std::int64_t threads_of_block = block_threads;
constexpr std::int64_t warps_of_block = block_warps;

/// Dynamic shared memory that every device gives a block without being asked for more.
constexpr std::int64_t max_shared_bytes = 48 * 1024;

/// One launch on the current stream of a device.
struct Launch {
    const char* kernel;  ///< name of the __global__ function
    std::int64_t blocks; ///< 1 to 2^31 - 1
    std::int64_t shared_bytes;
    c10::Device device;
    std::span<void*> arguments;               ///< where the value of each parameter is
    std::span<const std::size_t> value_bytes; ///< of each parameter, for checks
};

using Launcher = void (*)(const Launch&);

/// Throws Error(Device), naming the kernel, when it cannot be started.
void set_launcher(Launcher launcher);
void launch(const Launch& launch);

/// Blocks for so many units of work. More than the grid may have are done by the kernels' loops over the
/// grid.
std::int64_t blocks_for(std::int64_t units, std::int64_t units_of_a_block);

/// Arguments have the types of the kernel's parameters: pointers, std::int64_t for Index, int, float, double.
template <class... Arguments>
void launch(const char* kernel, c10::Device device, std::int64_t blocks, std::int64_t shared_bytes,
            Arguments... arguments) {
    std::array<void*, sizeof...(Arguments)> places{
        const_cast<void*>(static_cast<const void*>(&arguments))...};
    constexpr std::array<std::size_t, sizeof...(Arguments)> bytes{sizeof(Arguments)...};
    launch(Launch{kernel, blocks, shared_bytes, device, places, bytes});
}

} // namespace spng::kernels
