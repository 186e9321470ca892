// SPDX-License-Identifier: Apache-2.0
// Modules of the driver: code that LibTorch compiles by NVRTC while the program runs.
// As with other kernels of LibTorch, launches are counted, and the operator that launches computes the numbers.

#include "tests/cuda_simulator/simulator.h"

#include <cuda.h>

#include <mutex>
#include <set>
#include <string>
#include <utility>

// The process may have no simulated runtime.
namespace cuda_simulator {
[[gnu::weak]] void enqueue(cudaStream_t stream, Operation operation);
[[gnu::weak]] void report_defect(const std::string& what);
[[gnu::weak]] bool is_in_operator();
} // namespace cuda_simulator

#define DRIVER_API extern "C" __attribute__((visibility("default"))) CUresult

namespace {

/// Return a name that stays where it is: its address is the function.
const std::string& kept(const std::string& name) {
    static auto& names = *new std::set<std::string>;
    static auto& mutex = *new std::mutex;
    const std::lock_guard lock(mutex);
    return *names.insert(name).first;
}

CUresult missing(const char* name) {
    if (cuda_simulator::report_defect != nullptr) {
        cuda_simulator::report_defect(std::string("the driver has no ") + name);
    }
    return CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace

/// Internal functions, which NVRTC asks for.
DRIVER_API cuGetExportTable(const void** table, const CUuuid*) {
    *table = nullptr;
    return CUDA_ERROR_NOT_FOUND;
}

DRIVER_API cuModuleLoadData(CUmodule* module, const void*) {
    static int any = 0; // functions are known by their names alone
    *module = reinterpret_cast<CUmodule>(&any);
    return CUDA_SUCCESS;
}

DRIVER_API cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
    return cuModuleLoadData(module, image);
}

DRIVER_API cuModuleUnload(CUmodule) {
    return CUDA_SUCCESS;
}

DRIVER_API cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
    *function = reinterpret_cast<CUfunction>(const_cast<std::string*>(&kept(name)));
    return CUDA_SUCCESS;
}

DRIVER_API cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, CUstream stream, void**, void**) {
    if (cuda_simulator::enqueue == nullptr) {
        return CUDA_ERROR_NOT_INITIALIZED;
    }
    const std::string& name = *reinterpret_cast<const std::string*>(function);
    if (!cuda_simulator::is_in_operator()) {
        cuda_simulator::report_defect("no operator computes what this kernel would: " + name);
    }
    cuda_simulator::enqueue(
        stream, {.kind = cuda_simulator::Kind::kernel, .name = name, .accesses = {}, .compute = {}});
    return CUDA_SUCCESS;
}

DRIVER_API cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
    return CUDA_SUCCESS;
}

DRIVER_API cuFuncSetCacheConfig(CUfunction, CUfunc_cache) {
    return CUDA_SUCCESS;
}

DRIVER_API cuCtxSetCurrent(CUcontext) {
    return CUDA_SUCCESS;
}

DRIVER_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, CUfunction, int threads, std::size_t) {
    constexpr int threads_of_multiprocessor = 2048;
    *count = threads_of_multiprocessor / threads;
    return CUDA_SUCCESS;
}

DRIVER_API cuFuncGetAttribute(int*, CUfunction_attribute, CUfunction) {
    return missing("cuFuncGetAttribute");
}

DRIVER_API cuModuleLoad(CUmodule*, const char*) {
    return missing("cuModuleLoad");
}

DRIVER_API cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                     unsigned, CUstream, void**) {
    return missing("cuLaunchCooperativeKernel");
}

DRIVER_API cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState*) {
    return missing("cuLinkCreate");
}

DRIVER_API cuLinkAddData_v2(CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned,
                            CUjit_option*, void**) {
    return missing("cuLinkAddData");
}

DRIVER_API cuLinkComplete(CUlinkState, void**, std::size_t*) {
    return missing("cuLinkComplete");
}

DRIVER_API cuPointerGetAttribute(void*, CUpointer_attribute, CUdeviceptr) {
    return missing("cuPointerGetAttribute");
}

DRIVER_API cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                  const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                  CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                  CUtensorMapFloatOOBfill) {
    return missing("cuTensorMapEncodeTiled");
}
