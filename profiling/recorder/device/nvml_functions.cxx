#include "profiling/recorder/device/nvml_functions.h"

#include <dlfcn.h>
#include <type_traits>

namespace spng::recorder {

LoadedNvml load_nvml() {
    LoadedNvml found;
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        found.problem = "no NVIDIA driver here (libnvidia-ml.so.1 is not found)";
        found.no_driver = true;
        return found;
    }
    const auto take = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr && found.problem.empty()) {
            found.problem = std::string("libnvidia-ml.so.1 has no ") + name;
        }
    };
    take(found.functions.init, "nvmlInit_v2");
    take(found.functions.shutdown, "nvmlShutdown");
    take(found.functions.device_count, "nvmlDeviceGetCount_v2");
    take(found.functions.device, "nvmlDeviceGetHandleByIndex_v2");
    take(found.functions.power, "nvmlDeviceGetPowerUsage");
    take(found.functions.clock, "nvmlDeviceGetClockInfo");
    take(found.functions.temperature, "nvmlDeviceGetTemperature");
    take(found.functions.throttle_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons");
    take(found.functions.utilisation, "nvmlDeviceGetUtilizationRates");
    take(found.functions.memory, "nvmlDeviceGetMemoryInfo");
    if (found.problem.empty()) {
        if (const int result = found.functions.init(); result != 0) {
            found.problem = "NVML does not start (nvmlInit gives error " + std::to_string(result) + ")";
        }
    }
    return found;
}

std::string throttle_text(unsigned long long reasons) {
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
