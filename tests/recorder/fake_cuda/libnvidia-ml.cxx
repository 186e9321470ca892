// SPDX-License-Identifier: Apache-2.0
// NVIDIA's management library of a machine with one GPU that runs into its power limit (FAKE_THROTTLED).
#include <cstdlib>

extern "C" {
int nvmlInit_v2() {
    return 0;
}
int nvmlShutdown() {
    return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = 1;
    return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned, void** device) {
    *device = nullptr;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 251500;
    return 0;
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* megahertz) {
    *megahertz = type == 1 ? 1410 : 1215;
    return 0;
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned*) {
    return 3; // not supported
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = std::getenv("FAKE_THROTTLED") != nullptr ? 0x5 : 0x1; // idle, and the power limit
    return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) {
    rates[0] = 87;
    rates[1] = 40;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void*, unsigned long long* memory) {
    memory[0] = 42949672960;
    memory[1] = 42949672960 - 1048576;
    memory[2] = 1048576;
    return 0;
}
}
