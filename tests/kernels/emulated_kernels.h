// SPDX-License-Identifier: Apache-2.0
#pragma once
// The library's kernels, compiled for the CPU, by name. The simulated CUDA runtime (tests/cuda_simulator) and the tests
// of the kernels run them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace spng::emulation {

/// A parameter with one value, or a list of values of one type.
struct Parameter {
    std::size_t value_bytes, values;
    bool is_pointer, is_const; ///< of a pointer: what it points to
    std::size_t bytes() const { return value_bytes * values; }
};

/// A kernel that the emulator can run.
struct EmulatedKernel {
    std::vector<Parameter> parameters;
    void (*call)(
        std::span<void* const> arguments); ///< of one thread, with the address of each argument's value
};

/// All kernels of the library, by name.
const std::map<std::string, EmulatedKernel>& emulated_kernels();

/// Run all blocks of a launch. Not for several threads of the host at once.
/// @param arguments  the address of the value of each parameter
/// @param seed       order of the threads, as of BlockRunner
/// @throws Violation
void run(const EmulatedKernel& kernel, unsigned blocks, unsigned threads, std::size_t shared_bytes,
         std::span<void* const> arguments, std::uint64_t seed = 0);

} // namespace spng::emulation
