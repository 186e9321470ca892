// SPDX-License-Identifier: Apache-2.0
// Launch our kernels on CUDA devices, once this library is loaded. Uses the CUDA runtime, as LibTorch does for its own
// kernels, so that both look alike in profilers and CUDA graphs. Modules loaded with cudaLibraryLoadData belong to no
// context and are loaded on first use.

#include "spng/core/error.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/modules.h"

#include <cuda_runtime_api.h> // before c10's headers, which need it and do not include it

#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace spng::kernels {

namespace {

void require_success(cudaError_t status, const char* what, const std::string& where) {
    if (status != cudaSuccess) {
        cudaGetLastError(); // clear the error, else LibTorch's next call reports it again
        ErrorText text{.what = what,
                       .where = where,
                       .seen = std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status),
                       .hint = "use -A device=cpu, or a driver for LibTorch's CUDA release"};
        if (status == cudaErrorMemoryAllocation) { // the first launch loads the kernels
            throw OutOfMemory(std::move(text));
        }
        throw Error(ErrorKind::Device, std::move(text));
    }
}

/// The kernels of one device, found by name once.
class DeviceKernels {
public:
    explicit DeviceKernels(c10::DeviceIndex device) : m_device("cuda:" + std::to_string(device)) {
        int major = 0, minor = 0;
        const char* what = "cannot query the compute capability of a device";
        require_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), what,
                        m_device);
        require_success(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), what,
                        m_device);
        const CudaModule* best = module_for(cuda_modules(), 10 * major + minor);
        if (best == nullptr) {
            throw Error(ErrorKind::Device,
                        {.what = "there are no kernels for this device",
                         .where = m_device,
                         .seen = "compute capability " + std::to_string(major) + "." + std::to_string(minor),
                         .expected = "7.5 or newer",
                         .hint = "use -A device=cpu, or another device"});
        }
        require_success(cudaLibraryLoadData(&m_library, best->data, nullptr, nullptr, 0, nullptr, nullptr, 0),
                        "the kernels do not load", m_device);
        require_success(
            cudaDeviceGetAttribute(&m_shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
            "cannot query the shared memory of a device", m_device);
    }

    int shared_bytes() const { return m_shared_bytes; }

    const void* find(const char* name) {
        const std::lock_guard lock(m_mutex);
        const auto known = m_kernels.find(name);
        if (known != m_kernels.end()) {
            return known->second;
        }
        cudaKernel_t kernel = nullptr;
        require_success(cudaLibraryGetKernel(&kernel, m_library, name), "a kernel is missing",
                        m_device + ", " + name);
        require_success(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, m_shared_bytes),
            "the shared memory of a kernel cannot be enlarged", m_device + ", " + name);
        return m_kernels.emplace(name, kernel).first->second;
    }

private:
    std::string m_device;
    int m_shared_bytes = 0;
    // Kept until the process ends: the driver may be unloaded before our destructors run.
    cudaLibrary_t m_library = nullptr;
    std::mutex m_mutex;
    std::map<std::string_view, const void*> m_kernels; // names are literals
};

DeviceKernels& kernels_of(c10::DeviceIndex device) {
    static std::mutex mutex;
    static std::map<c10::DeviceIndex, std::unique_ptr<DeviceKernels>> all;
    const std::lock_guard lock(mutex);
    auto& kernels = all[device];
    if (kernels == nullptr) {
        kernels = std::make_unique<DeviceKernels>(device);
    }
    return *kernels;
}

/// Does not wait. Allocates only in the first call for a device, which must not be inside a capture.
void launch_on_cuda(const Launch& launch) {
    const c10::cuda::CUDAGuard guard(launch.device);
    const void* kernel = kernels_of(launch.device.index()).find(launch.kernel);
    require_success(cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(launch.blocks)),
                                     dim3(static_cast<unsigned>(threads_of_block)), launch.arguments.data(),
                                     static_cast<std::size_t>(launch.shared_bytes),
                                     c10::cuda::getCurrentCUDAStream().stream()),
                    "a CUDA kernel does not start", launch.device.str() + ", " + launch.kernel);
}

/// All kernels are set up for this limit.
std::int64_t shared_bytes_limit_of_cuda(c10::Device device) {
    const c10::cuda::CUDAGuard guard(device);
    return kernels_of(device.index()).shared_bytes();
}

[[maybe_unused]] const bool is_set = (set_launcher(launch_on_cuda, shared_bytes_limit_of_cuda), true);

} // namespace
} // namespace spng::kernels
