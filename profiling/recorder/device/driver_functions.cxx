// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/driver_functions.h"

#include "spng/core/shared_library.h"

#include <cstdio>

namespace spng::recorder {
namespace {

std::string find_functions(const SharedLibrary& library, DriverFunctions& driver) {
    FunctionFinder finder(library);
    finder.find(driver.init, "cuInit");
    finder.find(driver.version, "cuDriverGetVersion");
    finder.find(driver.device_count, "cuDeviceGetCount");
    finder.find(driver.device, "cuDeviceGet");
    finder.find(driver.device_name, "cuDeviceGetName");
    finder.find(driver.attribute, "cuDeviceGetAttribute");
    finder.find(driver.total_memory, "cuDeviceTotalMem_v2");
    finder.find_optional(driver.uuid, "cuDeviceGetUuid_v2"); // CUDA 11.4
    if (driver.uuid == nullptr) {
        finder.find(driver.uuid, "cuDeviceGetUuid");
    }
    finder.find(driver.bus_location, "cuDeviceGetPCIBusId");
    finder.find(driver.primary_state, "cuDevicePrimaryCtxGetState");
    finder.find(driver.primary_retain, "cuDevicePrimaryCtxRetain");
    finder.find(driver.primary_release, "cuDevicePrimaryCtxRelease_v2");
    finder.find(driver.push_context, "cuCtxPushCurrent_v2");
    finder.find(driver.pop_context, "cuCtxPopCurrent_v2");
    finder.find(driver.synchronize, "cuCtxSynchronize");
    return finder.missing();
}

} // namespace

int DriverFunctions::count() const {
    int count = 0;
    return device_count(&count) == cuda_success ? count : 0;
}

bool DriverFunctions::uses(int ordinal) const {
    int handle = 0;
    unsigned flags = 0;
    int active = 0;
    return device(&handle, ordinal) == cuda_success &&
           primary_state(handle, &flags, &active) == cuda_success && active != 0;
}

std::string DriverFunctions::bus_location_of(int ordinal) const {
    int handle = 0;
    std::array<char, 32> text{};
    const bool known = device(&handle, ordinal) == cuda_success &&
                       bus_location(text.data(), static_cast<int>(text.size()), handle) == cuda_success;
    return known ? text.data() : "";
}

std::string DriverFunctions::uuid_of(int ordinal) const {
    int handle = 0;
    CudaUuid bytes{};
    if (device(&handle, ordinal) != cuda_success || uuid(&bytes, handle) != cuda_success) {
        return "";
    }
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", bytes.at(i));
        text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits.data());
    }
    return text;
}

void DriverFunctions::synchronize_all() const {
    for (int ordinal = 0; ordinal < count(); ++ordinal) {
        int handle = 0;
        void* context = nullptr;
        // Skip devices that are not in use: retaining their primary context would create it.
        if (uses(ordinal) && device(&handle, ordinal) == cuda_success &&
            primary_retain(&context, handle) == cuda_success) {
            if (push_context(context) == cuda_success) {
                synchronize();
                pop_context(&context);
            }
            primary_release(handle);
        }
    }
}

LoadedDriver load_driver() {
    LoadedDriver found;
    const SharedLibrary library("libcuda.so.1");
    if (!library.is_open()) {
        found.problem = "no NVIDIA driver (libcuda.so.1 is not found)";
        found.no_driver = true;
    } else if (const std::string missing = find_functions(library, found.functions); !missing.empty()) {
        found.problem = "libcuda.so.1 has no " + missing;
    } else if (const int result = found.functions.init(0); result != cuda_success) {
        found.no_driver = result == cuda_no_device;
        found.problem = found.no_driver ? "no CUDA device"
                                        : "the NVIDIA driver does not start (cuInit gives error " +
                                              std::to_string(result) + ")";
    }
    return found;
}

} // namespace spng::recorder
