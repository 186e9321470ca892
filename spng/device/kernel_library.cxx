#include "spng/device/kernel_library.h"

#include "spng/core/log/log.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace spng {

void load_kernel_library() {
    const std::string instead = "; compositions of LibTorch's operations take their place";
    const char* wanted = std::getenv("SPNG_CUDA_KERNELS");
    if (wanted != nullptr && std::string_view(wanted) == "no") {
        log::info("device", "own CUDA kernels are switched off by SPNG_CUDA_KERNELS=no" + instead);
        return;
    }
    Dl_info own{};
    if (dladdr(reinterpret_cast<const void*>(&load_kernel_library), &own) == 0 || own.dli_fname == nullptr) {
        log::warn("device",
                  "own CUDA kernels are not looked for, since this library does not know its file" + instead);
        return;
    }
    const auto library = std::filesystem::path(own.dli_fname).parent_path() / "libWireCellSpngCuda.so";
    if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) == nullptr) {
        const char* reason = dlerror();
        log::warn("device", "own CUDA kernels do not load: " +
                                std::string(reason == nullptr ? library.c_str() : reason) + instead);
        return;
    }
    log::debug("device", "own CUDA kernels: " + library.string());
}

} // namespace spng
