// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1: the GPUs of the machine with the simulated CUDA devices. Like NVML, it lists all GPUs, whatever
// CUDA sees: first those of other people (CUDA_SIMULATOR_OTHER_DEVICES, all of them hot and at their power limit),
// then those of the simulated CUDA (CUDA_SIMULATOR_DEVICES) in reverse order. Locations on the PCI bus and UUIDs are
// those of the simulated driver.

#include "tests/cuda_simulator/simulator.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <string>
#include <vector>

// Without the simulated runtime in the process, no device has work.
namespace cuda_simulator {
[[gnu::weak]] DeviceLoad device_load(int device);
}

namespace {

constexpr int success = 0, invalid_argument = 2, not_supported = 3, not_found = 6;
constexpr unsigned long long power_limit = 0x4, idle = 0x1; // reasons for reduced clocks

struct Utilisation {
    unsigned gpu, memory;
};
struct MemoryUse {
    unsigned long long total, free, used;
};

struct Gpu {
    int cuda_device; ///< -1: of other people
    std::string location, uuid;
    std::uint64_t last_busy = 0, last_time = 0; ///< at the last question for the utilisation
};

int setting(const char* variable, int otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr || *text == '\0' ? otherwise : std::atoi(text);
}

std::uint64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

/// Format a UUID of one byte, repeated.
std::string uuid_of(int byte) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        text += (i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
    }
    return text;
}

std::string location(int bus) {
    char text[24];
    std::snprintf(text, sizeof text, "0000:%02X:00.0", static_cast<unsigned>(bus));
    return text;
}

std::vector<Gpu> list_gpus() {
    constexpr int first_other = 0x80;
    std::vector<Gpu> gpus;
    for (int i = 0; i < setting("CUDA_SIMULATOR_OTHER_DEVICES", 0); ++i) {
        gpus.push_back({-1, location(first_other + i), uuid_of(first_other + i)});
    }
    for (int i = setting("CUDA_SIMULATOR_DEVICES", 1); i-- > 0;) {
        gpus.push_back({i, location(i + 1), uuid_of(i + 1)});
    }
    return gpus;
}

std::vector<Gpu>& gpus() {
    static auto* const all = new std::vector<Gpu>(list_gpus());
    return *all;
}

Gpu& at(void* device) {
    return *static_cast<Gpu*>(device);
}

cuda_simulator::DeviceLoad load_of(const Gpu& gpu) {
    if (gpu.cuda_device < 0 || cuda_simulator::device_load == nullptr) {
        return {};
    }
    return cuda_simulator::device_load(gpu.cuda_device);
}

template <class Condition>
int find(Condition condition, void** device) {
    const auto found = std::find_if(gpus().begin(), gpus().end(), condition);
    *device = found == gpus().end() ? nullptr : &*found;
    return found == gpus().end() ? not_found : success;
}

} // namespace

extern "C" {

int nvmlInit_v2() {
    return success;
}
int nvmlShutdown() {
    return success;
}
const char* nvmlErrorString(int result) {
    return result == success ? "Success" : "simulated error";
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
    *version = 13000;
    return success;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(gpus().size());
    return success;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    if (index >= gpus().size()) {
        return invalid_argument;
    }
    *device = &gpus()[index];
    return success;
}
/// The domain may have four or, as LibTorch writes it, eight digits.
int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** device) {
    return find([&](const Gpu& gpu) { return std::string(text).ends_with(gpu.location); }, device);
}
int nvmlDeviceGetHandleByUUID(const char* text, void** device) {
    return find([&](const Gpu& gpu) { return gpu.uuid == text; }, device);
}
int nvmlDeviceGetUUID(void* device, char* text, unsigned length) {
    std::snprintf(text, length, "%s", at(device).uuid.c_str());
    return success;
}
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) {
    return not_supported;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    *milliwatts = at(device).cuda_device < 0 ? 700'000 : 120'000;
    return success;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* megahertz) {
    *megahertz = type == 1 ? 1980 : 2619;
    return success;
}
int nvmlDeviceGetTemperature(void* device, unsigned, unsigned* degrees) {
    *degrees = at(device).cuda_device < 0 ? 85 : 34;
    return success;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    *reasons = at(device).cuda_device < 0 ? power_limit : idle;
    return success;
}

/// The share of the time since the last question for which the device worked, by the runtime's model of times.
int nvmlDeviceGetUtilizationRates(void* device, Utilisation* rates) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    Gpu& gpu = at(device);
    const std::uint64_t time = now(), busy = load_of(gpu).busy;
    const std::uint64_t elapsed = std::max<std::uint64_t>(time - gpu.last_time, 1);
    rates->gpu = static_cast<unsigned>(std::min<std::uint64_t>(100 * (busy - gpu.last_busy) / elapsed, 100));
    rates->memory = 0;
    gpu.last_busy = busy;
    gpu.last_time = time;
    return success;
}
int nvmlDeviceGetMemoryInfo(void* device, MemoryUse* memory) {
    memory->total = 80'000'000'000;
    memory->used = load_of(at(device)).allocated;
    memory->free = memory->total - memory->used;
    return success;
}

/// LibTorch requires these when it reports exhausted memory. There are no links between the devices.
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) {
    return not_supported;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) {
    return not_supported;
}

/// Only this process works on the simulated devices.
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) {
    *count = 0;
    return success;
}
}
