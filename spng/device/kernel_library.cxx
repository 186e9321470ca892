// SPDX-License-Identifier: Apache-2.0
#include "spng/device/kernel_library.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/shared_library.h"

namespace spng {

std::filesystem::path kernel_library_file() {
    const std::filesystem::path own = SharedLibrary::file_of(&load_kernel_library);
    return own.parent_path() / "libWireCellSpngCuda.so";
}

void load_kernel_library(const std::filesystem::path& file) {
    const SharedLibrary library(file, SharedLibrary::Symbols::global);
    if (!library.is_open()) {
        throw Error(ErrorKind::Device,
                    {.what = "SPNG's CUDA kernels do not load",
                     .where = file.string(),
                     .seen = library.problem(),
                     .expected = "the library beside libWireCellSpng.so",
                     .hint =
                         "use -A device=cpu, or build the kernels: LibTorch for CUDA 12.8 or newer, and a "
                         "compiler that the summary of ./wcb configure names"});
    }
    log::debug("device", "SPNG's CUDA kernels: " + file.string());
}

} // namespace spng
