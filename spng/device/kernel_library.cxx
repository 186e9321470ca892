// SPDX-License-Identifier: Apache-2.0
#include "spng/device/kernel_library.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/shared_library.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace spng {

void load_kernel_library() {
    const std::string instead = "; using compositions of LibTorch's operations";
    const char* const text = std::getenv("SPNG_CUDA_KERNELS");
    const std::string_view wanted = text == nullptr ? "" : text;
    if (!wanted.empty() && wanted != "yes" && wanted != "no") {
        throw Error(ErrorKind::Usage, {.what = "an environment variable has an unknown value",
                                       .where = "SPNG_CUDA_KERNELS",
                                       .seen = std::string(wanted),
                                       .expected = "yes or no"});
    }
    if (wanted == "no") {
        log::info("device", "SPNG's CUDA kernels are switched off by SPNG_CUDA_KERNELS=no" + instead);
        return;
    }
    const std::string own_file = SharedLibrary::file_of(&load_kernel_library);
    if (own_file.empty()) {
        log::warn("device",
                  "SPNG's CUDA kernels are not loaded, because the file of this library is unknown" +
                      instead);
        return;
    }
    const auto file = std::filesystem::path(own_file).parent_path() / "libWireCellSpngCuda.so";
    const SharedLibrary library(file, SharedLibrary::Symbols::global);
    if (!library.is_open()) {
        log::warn("device", "SPNG's CUDA kernels do not load: " + library.problem() + instead);
        return;
    }
    log::debug("device", "SPNG's CUDA kernels: " + file.string());
}

} // namespace spng
