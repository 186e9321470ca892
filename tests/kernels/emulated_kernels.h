#pragma once
// The kernels of the library on the CPU: a launcher that runs their sources in the emulator.

#include "spng/kernels/launch.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace spng::emulation {

/// A kernel by its name: makes the call of one thread from the arguments of a launch. Throws Violation when
/// their number or sizes are not those of the kernel's parameters.
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

/// While it lives, launches run in the emulator.
class EmulatedDevice {
public:
    /// @param seed         order of the threads, as of BlockRunner
    /// @param max_blocks  a smaller grid than asked for, so that blocks take several rows
    explicit EmulatedDevice(std::uint64_t seed, std::int64_t max_blocks = 1 << 30);
    ~EmulatedDevice();
    EmulatedDevice(const EmulatedDevice&) = delete;
    EmulatedDevice& operator=(const EmulatedDevice&) = delete;
};

/// Names of the kernels that were launched since the program started, for tests of what is covered.
const std::map<std::string, int>& launched_kernels();

} // namespace spng::emulation
