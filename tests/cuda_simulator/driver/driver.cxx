// SPDX-License-Identifier: Apache-2.0
// A driver (libcuda.so.1) for what LibTorch, SPNG and the recorder ask of it. It has no functions that work on a
// device.

#include "tests/cuda_simulator/simulator.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

// The process may have no simulated runtime.
namespace cuda_simulator {
[[gnu::weak]] DeviceLoad device_load(int device);
}

#define DRIVER_API extern "C" __attribute__((visibility("default"))) int

namespace {

constexpr int success = 0, invalid_value = 1, no_device = 100, invalid_device = 101;

/// By CUdevice_attribute.
const std::map<int, int> attributes{
    {10, 32},       // threads of a warp
    {13, 1980000},  // clock [kHz]
    {16, 132},      // multiprocessors
    {36, 2619000},  // clock of the memory [kHz]
    {37, 5120},     // width of its bus [bits]
    {38, 52428800}, // L2 cache [bytes]
    {39, 2048},     // threads of a multiprocessor
    {40, 3},        // copy engines
    {75, 9},        // compute capability, major
    {76, 0},        // minor
    {81, 233472},   // shared memory of a multiprocessor [bytes]
    {82, 65536},    // registers of a multiprocessor
};

constexpr std::size_t uuid_bytes = 16;

int devices() {
    const char* const text = std::getenv("CUDA_SIMULATOR_DEVICES");
    return text == nullptr || *text == '\0' ? 1 : std::atoi(text);
}

bool exists(int device) {
    return device >= 0 && device < devices();
}

} // namespace

DRIVER_API cuInit(unsigned) {
    return devices() > 0 ? success : no_device;
}

DRIVER_API cuDriverGetVersion(int* version) {
    *version = 13000;
    return success;
}

DRIVER_API cuDeviceGetCount(int* count) {
    *count = devices();
    return success;
}

DRIVER_API cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return exists(ordinal) ? success : invalid_device;
}

/// Like the values of an H100.
DRIVER_API cuDeviceGetAttribute(int* value, int attribute, int device) {
    if (!exists(device)) {
        return invalid_device;
    }
    const auto known = attributes.find(attribute);
    if (known == attributes.end()) {
        return invalid_value;
    }
    *value = known->second;
    return success;
}

DRIVER_API cuDeviceGetName(char* text, int length, int device) {
    std::snprintf(text, static_cast<std::size_t>(length), "Simulated GPU");
    return exists(device) ? success : invalid_device;
}

/// All bytes of a device's UUID are its ordinal plus one.
DRIVER_API cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
    std::memset(uuid, device + 1, uuid_bytes);
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    const char* const text = std::getenv("CUDA_SIMULATOR_MEMORY_MB");
    *bytes = static_cast<std::size_t>((text == nullptr ? 80e3 : std::strtod(text, nullptr)) * 1e6);
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuDeviceGetPCIBusId(char* text, int length, int device) {
    const char name[] = {'0', '0', '0', '0', ':', '0', static_cast<char>('1' + device),
                         ':', '0', '0', '.', '0', '\0'};
    std::strncpy(text, name, static_cast<std::size_t>(length));
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* is_active) {
    *flags = 0;
    *is_active =
        cuda_simulator::device_load != nullptr && cuda_simulator::device_load(device).is_used ? 1 : 0;
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuDevicePrimaryCtxRetain(void** context, int device) {
    *context = nullptr;
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuDevicePrimaryCtxRelease_v2(int device) {
    return exists(device) ? success : invalid_device;
}

DRIVER_API cuCtxPushCurrent_v2(void*) {
    return success;
}

DRIVER_API cuCtxPopCurrent_v2(void** context) {
    *context = nullptr;
    return success;
}

/// The records of operations are complete when they are launched, so there is nothing to wait for.
DRIVER_API cuCtxSynchronize() {
    return success;
}

DRIVER_API cuCtxGetCurrent(void** context) {
    static int one = 0;
    *context = &one;
    return success;
}

DRIVER_API cuGetErrorName(int error, const char** text) {
    *text = error == no_device ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR";
    return success;
}

DRIVER_API cuGetErrorString(int error, const char** text) {
    *text = error == no_device ? "no CUDA-capable device is detected" : "a simulated error";
    return success;
}
