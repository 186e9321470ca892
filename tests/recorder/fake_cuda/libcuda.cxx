// SPDX-License-Identifier: Apache-2.0
// The CUDA driver of a process that sees one device. Environment: FAKE_NO_DEVICE; FAKE_UNUSED: the process does not
// work on its device.
#include <cuda.h>

#include <cstdlib>
#include <cstring>

extern "C" {
int fake_synchronised = 0; ///< how often someone waited for the device

CUresult cuInit(unsigned) {
    return std::getenv("FAKE_NO_DEVICE") != nullptr ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
    *version = 13000;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
    *count = 1;
    return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* text, int size, CUdevice) {
    std::strncpy(text, "Fake GPU", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 108;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = 1410000; // kHz
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = 1215000; // kHz
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = 5120; // bits
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 8;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        *value = 2048;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE; // an older driver
    }
}
#undef cuDeviceTotalMem
CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
    *bytes = 42949672960;
    return CUDA_SUCCESS;
}
#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice) {
    std::memset(uuid->bytes, 0xAB, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice) {
    std::strncpy(text, "0000:65:00.0", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
    *flags = 0;
    *active = std::getenv("FAKE_UNUSED") == nullptr ? 1 : 0;
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice) {
    *context = nullptr;
    return CUDA_SUCCESS;
}
#undef cuDevicePrimaryCtxRelease
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice) {
    return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext) {
    return CUDA_SUCCESS;
}
CUresult cuCtxPopCurrent_v2(CUcontext*) {
    return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize() {
    ++fake_synchronised;
    return CUDA_SUCCESS;
}
}
