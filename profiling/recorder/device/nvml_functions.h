// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of NVIDIA's management library (NVML) that the recorder calls, looked up at run time. The types
// and constants are copied from NVML's stable C interface, because LibTorch's CUDA libraries come without its
// header.

#include <string>

namespace spng::recorder {

using NvmlDevice = void*;

struct NvmlUtilisation {
    unsigned gpu = 0;    ///< share of NVML's last period (1/6 to 1 s) in which a kernel ran [%]
    unsigned memory = 0; ///< share of the period in which device memory was read or written [%]
};

struct NvmlMemory {
    unsigned long long total = 0, free = 0, used = 0; ///< [bytes]
};

inline constexpr unsigned nvml_clock_sm = 1;
inline constexpr unsigned nvml_clock_memory = 2;
inline constexpr unsigned nvml_temperature_gpu = 0;

/// Functions of NVML. They return 0 on success.
struct NvmlFunctions {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_at)(const char* bus_location, NvmlDevice*) = nullptr;
    int (*device_by_uuid)(const char*, NvmlDevice*) = nullptr;
    int (*mig_mode)(NvmlDevice, unsigned* current, unsigned* pending) = nullptr; ///< optional, driver 450
    int (*power)(NvmlDevice, unsigned*) = nullptr;                               ///< mW
    int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;                     ///< MHz
    int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;               ///< degrees Celsius
    int (*throttle_reasons)(NvmlDevice, unsigned long long*) = nullptr; ///< bits, describe_throttling()
    int (*utilisation)(NvmlDevice, NvmlUtilisation*) = nullptr;
    int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

struct LoadedNvml {
    NvmlFunctions functions;
    std::string problem;    ///< why NVML cannot be used; empty if it can
    bool no_driver = false; ///< the machine has no NVIDIA driver
};

/// Load and initialise libnvidia-ml.so.1.
LoadedNvml load_nvml();

/// Describe the reasons that reduce clocks below the requested ones; "" for none. Idle GPUs and clocks set by
/// the user or a display do not count.
/// @param reasons  bits of nvmlDeviceGetCurrentClocksThrottleReasons
std::string describe_throttling(unsigned long long reasons);

} // namespace spng::recorder
