// SPDX-License-Identifier: Apache-2.0
// Registration and launches of kernels. SPNG's own kernels run in the emulator; those of LibTorch are counted, and
// their operators compute the numbers (tests/cuda_simulator/operators).

#include "tests/cuda_simulator/runtime/call.h"
#include "tests/cuda_simulator/runtime/operators.h"
#include "tests/cuda_simulator/runtime/settings.h"
#include "tests/kernels/emulated_kernels.h"
#include "tests/kernels/emulator/block.h"

#include <cstring>
#include <set>
#include <unordered_map>
#include <utility>

using namespace cuda_simulator;

namespace {

constexpr std::size_t default_shared_bytes = 48 * 1024, max_shared_bytes = 227 * 1024;

struct Kernel {
    std::string name;
    const spng::emulation::EmulatedKernel* own = nullptr; ///< null: a kernel of LibTorch
    bool is_emulated = false;                             ///< else its operator computes the numbers
    std::size_t shared_bytes =
        default_shared_bytes; ///< that a launch may have; more must be requested before
};

std::unordered_map<const void*, Kernel>& kernels() {
    static auto* const all = new std::unordered_map<const void*, Kernel>;
    return *all;
}

/// The configuration of `kernel<<<...>>>`, pushed for its stub.
struct Configuration {
    dim3 grid, block;
    std::size_t shared_bytes;
    void* stream;
};
thread_local std::vector<Configuration> configurations;

bool is_possible(dim3 grid, dim3 block, bool fits_into_shared) {
    const unsigned threads = block.x * block.y * block.z;
    return threads > 0 && threads <= 1024 && grid.x > 0 && grid.x <= 2147483647u && grid.y > 0 &&
           grid.y <= 65535 && grid.z > 0 && grid.z <= 65535 && fits_into_shared;
}

/// The device memory behind the pointers of one of SPNG's kernels: what they point to is read if it is const, else
/// written. Memory behind two pointers counts once for each direction.
Traffic traffic_of(const Kernel& kernel, void** arguments) {
    Traffic traffic;
    std::set<std::pair<const void*, bool>> counted;
    for (const auto& parameter : kernel.own->parameters) {
        const auto* given = static_cast<const std::byte*>(*arguments++);
        for (std::size_t first = 0; parameter.is_pointer && first < parameter.bytes();
             first += sizeof(void*)) {
            const void* address = nullptr;
            std::memcpy(&address, given + first, sizeof address);
            if (address != nullptr && counted.emplace(address, parameter.is_const).second) {
                const std::size_t in_tensor = bytes_in_tensor(address);
                const std::size_t bytes = in_tensor > 0 ? in_tensor : state().memory.bytes_after(address);
                (parameter.is_const ? traffic.read : traffic.written) += bytes;
            }
        }
    }
    return traffic;
}

/// The operation of one of SPNG's kernels: its arguments are copied, its pointers lead to the simulator's mapping.
Operation emulated_operation(const Kernel& kernel, dim3 grid, dim3 block, std::size_t shared_bytes,
                             void** arguments) {
    Operation operation{.kind = Kind::kernel, .name = kernel.name, .accesses = {}, .compute = {}};
    std::vector<std::vector<std::byte>> values;
    for (const auto& parameter : kernel.own->parameters) {
        const auto* given = static_cast<const std::byte*>(arguments[values.size()]);
        auto& value = values.emplace_back(given, given + parameter.bytes());
        for (std::size_t first = 0; parameter.is_pointer && first < value.size(); first += sizeof(void*)) {
            const void* address = nullptr;
            std::memcpy(&address, value.data() + first, sizeof address);
            if (address != nullptr) {
                operation.accesses.push_back(
                    {address, state().memory.bytes_after(address), !parameter.is_const});
                address = state().memory.host_address(address);
                std::memcpy(value.data() + first, &address, sizeof address);
            }
        }
    }
    operation.compute = [&kernel, grid, block, shared_bytes, values = std::move(values)]() mutable {
        std::vector<void*> addresses;
        for (auto& value : values) {
            addresses.push_back(value.data());
        }
        try {
            spng::emulation::run(*kernel.own, grid.x, block.x, shared_bytes, addresses);
        } catch (const spng::emulation::Violation& violation) {
            report_defect(kernel.name + ": " + violation.what());
        }
    };
    return operation;
}

cudaError_t launch(const char* call_name, const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared_bytes, cudaStream_t handle) {
    return call(call_name, [=] {
        Stream& stream = state().stream_of(handle);
        const auto found = kernels().find(function);
        if (found == kernels().end()) {
            return cudaErrorInvalidDeviceFunction;
        }
        const Kernel& kernel = found->second;
        if (stream.device != thread_state().device) {
            return cudaErrorInvalidResourceHandle;
        }
        if (!is_possible(grid, block, shared_bytes <= kernel.shared_bytes)) {
            report_defect("a launch that a device rejects: " + readable(kernel.name));
            return cudaErrorInvalidConfiguration;
        }
        if (!kernel.is_emulated && !is_in_operator()) {
            report_defect("no operator computes what this kernel would: " + readable(kernel.name));
        }
        Operation operation =
            kernel.is_emulated
                ? emulated_operation(kernel, grid, block, shared_bytes, arguments)
                : Operation{.kind = Kind::kernel, .name = kernel.name, .accesses = {}, .compute = {}};
        if (kernel.own != nullptr && !settings().is_bare) {
            operation.traffic = traffic_of(kernel, arguments);
        }
        state().enqueue(stream, {.operation = std::move(operation),
                                 .grid = grid,
                                 .block = block,
                                 .shared_bytes = static_cast<int>(shared_bytes)});
        state().note_launch(stream.device);
        return cudaSuccess;
    });
}

} // namespace

CUDA_SIMULATOR_API void** __cudaRegisterFatBinary(void*) {
    static void* handle = nullptr;
    return &handle;
}

CUDA_SIMULATOR_API void __cudaRegisterFatBinaryEnd(void**) {}

CUDA_SIMULATOR_API void __cudaUnregisterFatBinary(void**) {}

CUDA_SIMULATOR_API char __cudaInitModule(void**) {
    return 1;
}

CUDA_SIMULATOR_API void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int,
                                               uint3*, uint3*, dim3*, dim3*, int*) {
    const std::lock_guard lock(state().mutex);
    kernels()[function].name = name;
}

CUDA_SIMULATOR_API void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

CUDA_SIMULATOR_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                        void* stream) {
    configurations.push_back({grid, block, shared_bytes, stream});
    return 0;
}

CUDA_SIMULATOR_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                                          void* stream) {
    const Configuration top = configurations.back();
    configurations.pop_back();
    *grid = top.grid;
    *block = top.block;
    *shared_bytes = top.shared_bytes;
    std::memcpy(stream, &top.stream, sizeof top.stream);
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
    *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                  void** arguments, size_t shared_bytes,
                                                  cudaStream_t stream) {
    return launch("cudaLaunchKernel_v7000", kernel, grid, block, arguments, shared_bytes, stream);
}

CUDA_SIMULATOR_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                                size_t shared_bytes, cudaStream_t stream) {
    return launch("cudaLaunchKernel_v7000", function, grid, block, arguments, shared_bytes, stream);
}

CUDA_SIMULATOR_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function,
                                                   void** arguments) {
    return launch("cudaLaunchKernelExC_v11060", function, how->gridDim, how->blockDim, arguments,
                  how->dynamicSmemBytes, how->stream);
}

CUDA_SIMULATOR_API cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*,
                                                   void**, unsigned, cudaLibraryOption*, void**, unsigned) {
    return call("cudaLibraryLoadData_v12060", thread_state().device, InCapture::forbidden, [=] {
        *library = reinterpret_cast<cudaLibrary_t>(const_cast<void*>(code));
        return std::memcmp(code, "\177ELF", 4) == 0 ? cudaSuccess : cudaErrorInvalidKernelImage;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
    return call("cudaLibraryGetKernel_v12060", [=] {
        const auto found = spng::emulation::emulated_kernels().find(name);
        if (found == spng::emulation::emulated_kernels().end()) {
            return cudaErrorInvalidDeviceFunction;
        }
        kernels()[&found->second] = {name, &found->second, emulates_kernels(), default_shared_bytes};
        *kernel =
            reinterpret_cast<cudaKernel_t>(const_cast<spng::emulation::EmulatedKernel*>(&found->second));
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* all, const void*) {
    *all = {};
    all->maxThreadsPerBlock = 1024;
    all->numRegs = 32;
    all->binaryVersion = all->ptxVersion = 90;
    all->maxDynamicSharedSizeBytes = max_shared_bytes;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute,
                                                    int value) {
    return call("cudaFuncSetAttribute_v9000", [=] {
        if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
            const auto found = kernels().find(function);
            if (found == kernels().end()) {
                return cudaErrorInvalidDeviceFunction;
            }
            if (value < 0 || static_cast<std::size_t>(value) > max_shared_bytes) {
                return cudaErrorInvalidValue;
            }
            found->second.shared_bytes = static_cast<std::size_t>(value);
        }
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                                      const void*,
                                                                                      int threads, size_t,
                                                                                      unsigned) {
    *blocks = threads > 0 ? 2048 / threads : 1;
    return cudaSuccess;
}
