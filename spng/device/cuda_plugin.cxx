#include "spng/device/cuda_plugin.h"

#include "spng/core/error.h"

#include <dlfcn.h>

#include <mutex>

namespace spng {

int cuda_device_count() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) {
        return 0;
    }
    // Both entry points are part of the driver's stable C interface; 0 is CUDA_SUCCESS.
    const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
    const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
    int count = 0;
    if (initialise == nullptr || count_devices == nullptr || initialise(0) != 0 ||
        count_devices(&count) != 0) {
        count = 0;
    }
    return count; // the driver stays loaded: unloading it while CUDA may start would be unsafe
}

void load_cuda_plugin() {
    static std::once_flag once;
    std::call_once(once, [] {
        if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) {
            const char* reason = dlerror();
            throw Error(
                ErrorKind::Device,
                {.what = "the CUDA libraries of LibTorch do not load",
                 .where = "libtorch_cuda.so",
                 .seen = reason == nullptr ? "" : reason,
                 .expected = "a LibTorch with CUDA beside libtorch_cpu.so",
                 .mend = "use -A device=cpu, or install the full LibTorch (./wcb setup without --slim)"});
        }
    });
}

} // namespace spng
