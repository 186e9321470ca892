// SPDX-License-Identifier: Apache-2.0
// The CUDA driver of a machine with one device, as far as the recorder looks at it.
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
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice) {
    std::strncpy(text, "0000:65:00.0", static_cast<std::size_t>(size));
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
    *flags = 0;
    *active = 1;
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
