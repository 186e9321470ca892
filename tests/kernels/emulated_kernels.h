// SPDX-License-Identifier: Apache-2.0
#pragma once
// Run the library's kernels on the CPU: a launcher that executes their sources in the emulator.

#include "spng/kernels/launch.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spng::emulation {

/// Find a kernel by its name and make the call of one thread from the arguments of a launch.
/// @throws Violation if count or sizes of the arguments differ from those of the kernel's parameters
using Binding = std::function<std::function<void()>(const kernels::Launch&)>;
const std::map<std::string, Binding>& emulated_kernels();

void require_parameters(const kernels::Launch& launch, const std::vector<std::size_t>& bytes);

template <class... Parameters, std::size_t... Number>
Binding binding_of(void (*kernel)(Parameters...), std::index_sequence<Number...>) {
    return [kernel](const kernels::Launch& launch) -> std::function<void()> {
        require_parameters(launch, {sizeof(Parameters)...});
        return [kernel, launch] {
            kernel(*static_cast<std::remove_cv_t<Parameters>*>(launch.arguments[Number])...);
        };
    };
}
template <class... Parameters>
Binding binding_of(void (*kernel)(Parameters...)) {
    return binding_of(kernel, std::index_sequence_for<Parameters...>{});
}

/// Scope guard: launches run in the emulator.
class EmulatedDevice {
public:
    /// @param seed         order of the threads, as of BlockRunner
    /// @param max_blocks  maximum size of the grid, so that blocks process several rows
    explicit EmulatedDevice(std::uint64_t seed, std::int64_t max_blocks = 1 << 30);
    ~EmulatedDevice();
    EmulatedDevice(const EmulatedDevice&) = delete;
    EmulatedDevice& operator=(const EmulatedDevice&) = delete;
};

/// Return the names of the kernels launched since the program started, for tests of the coverage.
const std::map<std::string, int>& launched_kernels();

} // namespace spng::emulation
