// SPDX-License-Identifier: Apache-2.0
// A driver (libcuda.so.1) for what LibTorch and SPNG ask of it. It has no functions that work on a device.

#include <cstddef>
#include <cstdlib>
#include <cstring>

#define DRIVER_API extern "C" __attribute__((visibility("default"))) int

namespace {

constexpr int success = 0, invalid_value = 1, no_device = 100, invalid_device = 101;
constexpr int capability_major = 75, capability_minor = 76; // CUdevice_attribute
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

DRIVER_API cuDeviceGetAttribute(int* value, int attribute, int device) {
    *value = attribute == capability_major ? 9 : 0;
    return !exists(device)                                                  ? invalid_device
           : attribute == capability_major || attribute == capability_minor ? success
                                                                            : invalid_value;
}

/// All bytes of a device's UUID are its number plus one.
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
    *is_active = 1;
    return exists(device) ? success : invalid_device;
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
