#pragma once
// The functions of NVIDIA's management library that the recorder calls, found at run time. Types and numbers
// are those of NVML's stable C interface, whose header does not come with the CUDA libraries of LibTorch.

#include <string>

namespace spng::recorder {

using NvmlDevice = void*;

struct NvmlUtilisation {
    unsigned gpu = 0;    ///< per cent of NVML's last period (1/6 to 1 s) in which any kernel ran
    unsigned memory = 0; ///< ... in which device memory was read or written
};

struct NvmlMemory {
    unsigned long long total = 0, free = 0, used = 0; ///< bytes
};

inline constexpr unsigned nvml_clock_sm = 1;
inline constexpr unsigned nvml_clock_memory = 2;
inline constexpr unsigned nvml_temperature_gpu = 0;

/// A result of 0 is success.
struct NvmlFunctions {
    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*device_count)(unsigned*) = nullptr;
    int (*device)(unsigned, NvmlDevice*) = nullptr;
    int (*power)(NvmlDevice, unsigned*) = nullptr;                      ///< mW
    int (*clock)(NvmlDevice, unsigned, unsigned*) = nullptr;            ///< MHz
    int (*temperature)(NvmlDevice, unsigned, unsigned*) = nullptr;      ///< degrees Celsius
    int (*throttle_reasons)(NvmlDevice, unsigned long long*) = nullptr; ///< bits, throttle_text()
    int (*utilisation)(NvmlDevice, NvmlUtilisation*) = nullptr;
    int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
};

struct LoadedNvml {
    NvmlFunctions functions;
    std::string problem;    ///< why NVML cannot be used; empty: it can
    bool no_driver = false; ///< the machine has none
};

/// libnvidia-ml.so.1, initialised.
LoadedNvml load_nvml();

/// The reasons that hold clocks below what was asked for, in words; "" for none. Being idle, and clocks that
/// the user or a display set, are not among them.
std::string throttle_text(unsigned long long reasons);

} // namespace spng::recorder
