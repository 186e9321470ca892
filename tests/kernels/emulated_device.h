// SPDX-License-Identifier: Apache-2.0
#pragma once
// Run the library's kernels on the CPU: a launcher that executes their sources in the emulator.

#include "spng/kernels/launch.h"

#include <cstdint>
#include <map>
#include <string>

namespace spng::emulation {

/// Scope guard: launches run in the emulator.
class EmulatedDevice {
public:
    /// @param seed         order of the threads, as of BlockRunner
    /// @param max_blocks  maximum size of the grid, so that blocks process several rows
    /// @param shared_bytes  shared memory that a block may have on request
    explicit EmulatedDevice(std::uint64_t seed, std::int64_t max_blocks = 1 << 30,
                            std::int64_t shared_bytes = 227 * 1024);
    ~EmulatedDevice();
    EmulatedDevice(const EmulatedDevice&) = delete;
    EmulatedDevice& operator=(const EmulatedDevice&) = delete;
};

/// Return the names of the kernels launched since the program started, for tests of the coverage.
const std::map<std::string, int>& launched_kernels();

} // namespace spng::emulation
