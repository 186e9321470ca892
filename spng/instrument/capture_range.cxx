#include "spng/instrument/capture_range.h"

#include <dlfcn.h>
#include <initializer_list>

namespace spng::instrument {
namespace {

/// Call a function without arguments of the CUDA runtime, if one is loaded.
void call_runtime(const char* name) {
    for (const char* const library : {"libcudart.so.13", "libcudart.so.12"}) {
        if (void* const runtime = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
            if (const auto function = reinterpret_cast<int (*)()>(dlsym(runtime, name))) {
                function();
            }
            dlclose(runtime);
            return;
        }
    }
}

} // namespace

void start_device_profiler() {
    call_runtime("cudaProfilerStart");
}

void stop_device_profiler() {
    call_runtime("cudaProfilerStop");
}

} // namespace spng::instrument
