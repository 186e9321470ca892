// SPDX-License-Identifier: Apache-2.0
#include "spng/device/cuda_driver.h"

#include "spng/core/shared_library.h"

#include <cstdlib>

namespace spng {
namespace {

// Values of CUresult, from the driver's stable C interface, that have a hint for the user.
constexpr int success = 0;
constexpr int stub_library = 34;
constexpr int no_device = 100;
constexpr int system_not_ready = 802;
constexpr int driver_mismatch = 803;
constexpr int compatibility_not_supported = 804;
constexpr int unknown = 999;

constexpr const char* driver_library = "libcuda.so.1";

std::string error_text(const SharedLibrary& library, int error) {
    const auto text_from = [&](const char* function) {
        const auto get_text = library.find<int (*)(int, const char**)>(function);
        const char* text = nullptr;
        return get_text != nullptr && get_text(error, &text) == success && text != nullptr ? std::string(text)
                                                                                           : std::string();
    };
    const std::string name = text_from("cuGetErrorName");
    const std::string meaning = text_from("cuGetErrorString");
    return (name.empty() ? "error" : name) + " (" + std::to_string(error) + ")" +
           (meaning.empty() ? "" : ": " + meaning);
}

} // namespace

bool CudaDriver::has_no_device() const {
    return error == no_device;
}

CudaDriver query_cuda_driver() {
    CudaDriver driver;
    const SharedLibrary library(driver_library);
    if (!library.is_open()) {
        driver.load_error = library.problem();
        return driver;
    }
    driver.present = true;
    const auto initialise = library.find<int (*)(unsigned)>("cuInit");
    const auto count_devices = library.find<int (*)(int*)>("cuDeviceGetCount");
    const auto get_version = library.find<int (*)(int*)>("cuDriverGetVersion");
    if (initialise == nullptr || count_devices == nullptr) {
        driver.error = stub_library;
        driver.error_text = "libcuda.so.1 has no cuInit or no cuDeviceGetCount";
        return driver;
    }
    if (get_version == nullptr || get_version(&driver.version) != success) {
        driver.version = 0;
    }
    driver.error = initialise(0);
    if (driver.error == success) {
        driver.error = count_devices(&driver.devices);
    }
    if (driver.error != success) {
        driver.devices = 0;
        driver.error_text = error_text(library, driver.error);
    }
    return driver;
}

int compute_capability(int device) {
    constexpr int major_attribute = 75; // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    constexpr int minor_attribute = 76;
    if (query_cuda_driver().devices <= device) {
        return 0;
    }
    const SharedLibrary library(driver_library);
    const auto get_device = library.find<int (*)(int*, int)>("cuDeviceGet");
    const auto get_attribute = library.find<int (*)(int*, int, int)>("cuDeviceGetAttribute");
    int handle = 0, major = 0, minor = 0;
    return get_device != nullptr && get_attribute != nullptr && get_device(&handle, device) == success &&
                   get_attribute(&major, major_attribute, handle) == success &&
                   get_attribute(&minor, minor_attribute, handle) == success
               ? 10 * major + minor
               : 0;
}

std::string cuda_driver_hint(const CudaDriver& driver) {
    const std::string cpu = ", or use -A device=cpu";
    if (!driver.present) {
        return "install the NVIDIA driver, or start the container with the GPU (--gpus all, --nv)" + cpu;
    }
    switch (driver.error) {
    case success:
    case no_device: {
        const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
        return visible == nullptr ? "check the device with nvidia-smi" + cpu
                                  : "CUDA_VISIBLE_DEVICES is '" + std::string(visible) + "': unset it" + cpu;
    }
    case stub_library:
        return "remove CUDA's folder of stubs from LD_LIBRARY_PATH" + cpu;
    case system_not_ready:
        return "start nvidia-fabricmanager, or wait until it runs" + cpu;
    case driver_mismatch:
        return "libcuda.so.1 and the kernel's driver have different versions: restart the machine after "
               "the update of the driver, or give the container the host's libcuda.so.1" +
               cpu;
    case compatibility_not_supported:
        return "remove CUDA's folder 'compat' from LD_LIBRARY_PATH, or update the driver" + cpu;
    case unknown:
        return "load the kernel module nvidia-uvm (nvidia-modprobe -u), or give the container /dev/nvidia*" +
               cpu;
    default:
        return "check the driver with nvidia-smi" + cpu;
    }
}

std::string cuda_version_text(int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace spng
