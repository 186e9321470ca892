#include "spng/device/device_identity.h"

#include "spng/device/cuda_plugin.h"
#include "spng/device/device_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace spng {
namespace {

constexpr int success = 0; // CUDA_SUCCESS

template <class Function>
Function find(void* library, const char* name) {
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

/// The 16 bytes as nvidia-smi writes them: GPU-8-4-4-4-12 hexadecimal digits.
std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
    std::string text = "GPU";
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const bool begins_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        std::array<char, 4> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", bytes.at(i));
        text += (begins_group ? "-" : "") + std::string(digits.data());
    }
    return text;
}

/// "cuda:2", "gpu2" -> 2; without a number 0.
int number_of(const std::string& device) {
    const auto digit =
        std::find_if(device.begin(), device.end(), [](unsigned char c) { return std::isdigit(c); });
    int number = 0;
    for (auto at = digit; at != device.end() && std::isdigit(static_cast<unsigned char>(*at)) != 0; ++at) {
        number = std::min(10 * number + (*at - '0'), 9999);
    }
    return number;
}

} // namespace

DeviceIdentity identity_of(const std::string& device) {
    const int count = device == "cpu" ? 0 : cuda_device_count(); // which starts the driver
    if (device == "cpu" || (device == "auto" && count == 0)) {
        return {"host", std::max<std::int64_t>(device_memory(c10::kCPU).total, 0)};
    }
    const int number = number_of(device);
    DeviceIdentity identity{"cuda-" + std::to_string(number), 0};
    void* const driver = count > number ? dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) : nullptr;
    const auto get_device = find<int (*)(int*, int)>(driver, "cuDeviceGet");
    int handle = 0;
    if (get_device == nullptr || get_device(&handle, number) != success) {
        return identity;
    }
    using GetUuid = int (*)(unsigned char*, int);
    auto get_uuid = find<GetUuid>(driver, "cuDeviceGetUuid_v2"); // tells parts of a divided GPU apart
    get_uuid = get_uuid != nullptr ? get_uuid : find<GetUuid>(driver, "cuDeviceGetUuid");
    std::array<unsigned char, 16> bytes{};
    if (get_uuid != nullptr && get_uuid(bytes.data(), handle) == success) {
        identity.name = uuid_text(bytes);
    }
    const auto get_memory = find<int (*)(std::size_t*, int)>(driver, "cuDeviceTotalMem_v2");
    std::size_t total = 0;
    if (get_memory != nullptr && get_memory(&total, handle) == success) {
        identity.total_memory = static_cast<std::int64_t>(total);
    }
    return identity;
}

} // namespace spng
