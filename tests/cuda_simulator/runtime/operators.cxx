// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/operators.h"

#include "tests/cuda_simulator/simulator.h"

#include <dlfcn.h>

#include <atomic>
#include <filesystem>
#include <string>

namespace cuda_simulator {

namespace {

using IsActive = bool (*)();
std::atomic<IsActive> is_active{nullptr};

} // namespace

void load_operators() {
    static std::atomic<bool> began{
        false}; // not a once_flag: the library may call the runtime when it is loaded
    if (began.exchange(true)) {
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
}

bool is_in_operator() {
    const IsActive function = is_active;
    return function == nullptr || function();
}

bool is_computed_by_operator() {
    const IsActive function = is_active;
    return function != nullptr && function();
}

} // namespace cuda_simulator
