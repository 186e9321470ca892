// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions of the CUDA driver that the recorder calls. They are looked up at run time, because the recorder
// also runs on machines without a driver. Types and constants are those of the driver's stable C interface, so
// that the part "nvml" builds without CUDA's headers.

#include <array>
#include <cstddef>
#include <string>

namespace spng::recorder {

inline constexpr int cuda_success = 0;
inline constexpr int cuda_no_device = 100;
using CudaUuid = std::array<unsigned char, 16>;

/// Functions of the driver. They return cuda_success or an error.
struct DriverFunctions {
    int (*init)(unsigned flags) = nullptr;
    int (*version)(int*) = nullptr;
    int (*device_count)(int*) = nullptr;
    int (*device)(int* device, int ordinal) = nullptr;
    int (*device_name)(char*, int size, int device) = nullptr;
    int (*attribute)(int* value, int attribute, int device) = nullptr;
    int (*total_memory)(std::size_t*, int device) = nullptr;
    int (*uuid)(CudaUuid*, int device) = nullptr; ///< of the part, if the GPU is divided
    int (*bus_location)(char*, int size, int device) = nullptr;
    int (*primary_state)(int device, unsigned* flags, int* active) = nullptr;
    int (*primary_retain)(void** context, int device) = nullptr;
    int (*primary_release)(int device) = nullptr;
    int (*push_context)(void*) = nullptr;
    int (*pop_context)(void**) = nullptr;
    int (*synchronize)() = nullptr;

    /// Return the count of devices that the process sees (CUDA_VISIBLE_DEVICES); 0 after an error.
    int count() const;
    /// Return true if this process has started to work on a device. Does not start it.
    bool uses(int ordinal) const;
    /// Return the location of a device on the PCI bus, "0000:65:00.0"; "" after an error.
    std::string bus_location_of(int ordinal) const;
    /// Return the UUID of a device, or of the part of a divided GPU: 8-4-4-4-12 hexadecimal digits. "" after an
    /// error.
    std::string uuid_of(int ordinal) const;
    /// Wait until the devices that this process uses have finished their work.
    void synchronize_all() const;
};

struct LoadedDriver {
    DriverFunctions functions;
    std::string problem;    ///< why the driver cannot be used; empty if it can
    bool no_driver = false; ///< the machine has no NVIDIA driver or no device
};

/// Load and start libcuda.so.1.
LoadedDriver load_driver();

} // namespace spng::recorder
