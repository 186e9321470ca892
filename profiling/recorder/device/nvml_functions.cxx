// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/nvml_functions.h"

#include "spng/core/shared_library.h"

namespace spng::recorder {

LoadedNvml load_nvml() {
    LoadedNvml found;
    const SharedLibrary library("libnvidia-ml.so.1");
    if (!library.is_open()) {
        found.problem = "no NVIDIA driver (libnvidia-ml.so.1 is not found)";
        found.no_driver = true;
        return found;
    }
    FunctionFinder finder(library);
    finder.find(found.functions.init, "nvmlInit_v2");
    finder.find(found.functions.shutdown, "nvmlShutdown");
    finder.find(found.functions.device_at, "nvmlDeviceGetHandleByPciBusId_v2");
    finder.find(found.functions.device_by_uuid, "nvmlDeviceGetHandleByUUID");
    finder.find_optional(found.functions.mig_mode, "nvmlDeviceGetMigMode");
    finder.find(found.functions.power, "nvmlDeviceGetPowerUsage");
    finder.find(found.functions.clock, "nvmlDeviceGetClockInfo");
    finder.find(found.functions.temperature, "nvmlDeviceGetTemperature");
    finder.find(found.functions.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    finder.find(found.functions.utilisation, "nvmlDeviceGetUtilizationRates");
    finder.find(found.functions.memory, "nvmlDeviceGetMemoryInfo");
    if (!finder.missing().empty()) {
        found.problem = "libnvidia-ml.so.1 has no " + finder.missing();
    } else if (const int result = found.functions.init(); result != 0) {
        found.problem = "NVML does not start (nvmlInit gives error " + std::to_string(result) + ")";
    }
    return found;
}

std::string describe_throttling(unsigned long long reasons) {
    struct Reason {
        unsigned long long bit;
        const char* text;
    };
    std::string text;
    for (const Reason& reason : {Reason{0x04, "power limit"},
                                 {0x08, "hardware slowdown"},
                                 {0x20, "temperature (software)"},
                                 {0x40, "temperature (hardware)"},
                                 {0x80, "power brake"}}) {
        if ((reasons & reason.bit) != 0) {
            text += (text.empty() ? "" : ", ") + std::string(reason.text);
        }
    }
    return text;
}

} // namespace spng::recorder
