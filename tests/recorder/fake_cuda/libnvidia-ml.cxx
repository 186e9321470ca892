// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library of a machine with two GPUs. Its first one is used by other people and always at its
// power limit; the second one is that of fake_cuda/libcuda.cxx. Environment: FAKE_THROTTLED: ours is at its limit
// too. FAKE_MIG: ours is divided.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int not_supported = 3;
constexpr int not_found = 6;

enum Gpu : int { theirs, ours, our_part };
Gpu gpus[] = {theirs, ours, our_part};

bool is_set(const char* name) {
    return std::getenv(name) != nullptr;
}

Gpu at(void* device) {
    return *static_cast<Gpu*>(device);
}

} // namespace

extern "C" {
int nvmlInit_v2() {
    return 0;
}
int nvmlShutdown() {
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 2;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = &gpus[index];
    return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* location, void** device) {
    const Gpu gpu = std::strcmp(location, "0000:65:00.0") == 0 ? ours : theirs;
    *device = &gpus[gpu];
    return gpu == ours || std::strcmp(location, "0000:17:00.0") == 0 ? 0 : not_found;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    *device = &gpus[our_part];
    return std::strcmp(uuid, "MIG-abababab-abab-abab-abab-abababababab") == 0 ? 0 : not_found;
}
int nvmlDeviceGetMigMode(void* device, unsigned* current, unsigned* pending) {
    *current = *pending = at(device) == ours && is_set("FAKE_MIG") ? 1 : 0;
    return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    *milliwatts = at(device) == theirs ? 700000 : 251500;
    return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* megahertz) {
    *megahertz = type == 1 ? 1410 : 1215;
    return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned*) {
    return not_supported;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
    const bool limited = at(device) == theirs || is_set("FAKE_THROTTLED");
    *reasons = limited ? 0x5 : 0x1; // idle, and the power limit
    return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) {
    rates[0] = 87;
    rates[1] = 40;
    return is_set("FAKE_MIG") ? not_supported : 0;
}
int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* memory) {
    memory[0] = 42949672960;
    memory[2] = at(device) == our_part ? 4096 : 1048576;
    memory[1] = memory[0] - memory[2];
    return 0;
}
}
