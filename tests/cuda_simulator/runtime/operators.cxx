// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/operators.h"

#include "tests/cuda_simulator/runtime/settings.h"
#include "tests/cuda_simulator/simulator.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace cuda_simulator {

namespace {

using IsActive = bool (*)();
using BytesInTensor = std::size_t (*)(const void*);
std::atomic<IsActive> is_active{nullptr};
std::atomic<BytesInTensor> bytes_in_argument{nullptr};

} // namespace

void load_operators() {
    static std::atomic<bool> began{
        false}; // not a once_flag: the library may call the runtime when it is loaded
    if (settings().is_bare || began.exchange(true)) {
        return;
    }
    Dl_info own{};
    dladdr(reinterpret_cast<void*>(&load_operators), &own);
    const std::string file =
        (std::filesystem::path(own.dli_fname).parent_path() / "libSpngSimulatedOperators.so").string();
    void* const library = dlopen(file.c_str(), RTLD_NOW);
    if (library == nullptr) {
        report_defect(std::string("operators compute nothing: ") + dlerror());
        return;
    }
    is_active = reinterpret_cast<IsActive>(dlsym(library, "simulated_operator_is_active"));
    bytes_in_argument = reinterpret_cast<BytesInTensor>(dlsym(library, "simulated_operator_bytes_in_tensor"));
}

bool is_in_operator() {
    const IsActive function = is_active;
    return function == nullptr || function();
}

std::size_t bytes_in_tensor(const void* address) {
    const BytesInTensor function = bytes_in_argument;
    return function == nullptr ? 0 : function(address);
}

bool is_computed_by_operator() {
    const IsActive function = is_active;
    return function != nullptr && function();
}

} // namespace cuda_simulator
