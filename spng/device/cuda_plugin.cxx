// SPDX-License-Identifier: Apache-2.0
#include "spng/device/cuda_plugin.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/shared_library.h"
#include "spng/device/cuda_driver.h"
#include "spng/device/kernel_library.h"
#include "spng/device/memory/allocator_history.h"

#include <ATen/Context.h>
#include <c10/util/Exception.h>

#include <mutex>

namespace spng {
namespace {

/// Check the version of the driver. A program for one major version of CUDA runs with every driver of that
/// major version or a newer one; the minor version does not matter.
void require_driver_for_runtime(const SharedLibrary& torch_cuda) {
    // A function of the CUDA runtime that libtorch_cuda links; it answers without a device.
    const auto runtime_version = torch_cuda.find<int (*)(int*)>("cudaRuntimeGetVersion");
    int needed = 0;
    const int present = query_cuda_driver().version;
    if (runtime_version == nullptr || runtime_version(&needed) != 0 || present == 0) {
        return; // nothing to compare; CUDA reports the error
    }
    if (present / 1000 < needed / 1000) {
        throw Error(ErrorKind::Device,
                    {.what = "the NVIDIA driver is too old for the CUDA that LibTorch was built for",
                     .where = "libcuda.so.1",
                     .seen = "a driver for CUDA " + cuda_version_text(present),
                     .expected = "one for CUDA " + std::to_string(needed / 1000) +
                                 ".0 or newer; LibTorch has " + cuda_version_text(needed),
                     .hint = "update the driver, use a LibTorch for CUDA " + std::to_string(present / 1000) +
                             ", or use -A device=cpu"});
    }
}

bool find_usable_cuda() {
    const CudaDriver driver = query_cuda_driver();
    if (driver.error != 0 && !driver.has_no_device()) {
        log::warn("device", "no CUDA device can be used: the driver reports " + driver.error_text + "; " +
                                cuda_driver_hint(driver));
    }
    if (driver.devices == 0) {
        return false;
    }
    try {
        load_cuda_for(0, "auto", "device");
        return true;
    } catch (const Error& error) {
        log::warn("device", "the CUDA device is not used, because " + error.text().what + " (" +
                                error.text().seen + "); " + error.text().hint);
        return false;
    }
}

} // namespace

int cuda_device_count() {
    return query_cuda_driver().devices;
}

void load_cuda_plugin() {
    static std::once_flag once;
    std::call_once(once, [] {
        const SharedLibrary torch_cuda("libtorch_cuda.so", SharedLibrary::Symbols::global);
        if (!torch_cuda.is_open()) {
            throw Error(
                ErrorKind::Device,
                {.what = "the CUDA libraries of LibTorch do not load",
                 .where = "libtorch_cuda.so",
                 .seen = torch_cuda.problem(),
                 .expected = "a LibTorch with CUDA beside libtorch_cpu.so",
                 .hint = "use -A device=cpu, or install the full LibTorch (./wcb setup without --slim)"});
        }
        require_driver_for_runtime(torch_cuda);
        load_kernel_library(kernel_library_file());
    });
}

void load_cuda_for(int index, const std::string& asked, const std::string& where) {
    const CudaDriver driver = query_cuda_driver();
    if (index >= driver.devices) {
        const std::string devices = std::to_string(driver.devices) + " CUDA devices on this machine";
        const std::string because = !driver.present     ? "; no driver: " + driver.load_error
                                    : driver.error != 0 ? "; the driver reports " + driver.error_text
                                                        : "";
        throw Error(ErrorKind::Device,
                    {.what = "the requested CUDA device does not exist",
                     .where = where,
                     .seen = "'" + asked + "', " + devices + because,
                     .expected = driver.devices == 0 ? "cpu or auto"
                                                     : "cuda:0 to cuda:" + std::to_string(driver.devices - 1),
                     .hint = cuda_driver_hint(driver)});
    }
    load_cuda_plugin();
    try {
        at::globalContext().lazyInitDevice(c10::kCUDA);
    } catch (const c10::Error& error) {
        const std::string reason = error.what_without_backtrace();
        throw Error(ErrorKind::Device, {.what = "CUDA does not start",
                                        .where = where,
                                        .seen = "'" + asked + "': " + reason.substr(0, reason.find('\n')),
                                        .expected = "a device that LibTorch can use; the driver shows " +
                                                    std::to_string(driver.devices),
                                        .hint = cuda_driver_hint(driver)});
    }
    start_requested_allocator_history();
}

bool auto_means_cuda() {
    static const bool means_cuda = find_usable_cuda();
    return means_cuda;
}

} // namespace spng
