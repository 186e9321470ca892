// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/gpu_rows.h"

#include <array>

namespace spng::recorder {
namespace {

// Values of CUdevice_attribute.
constexpr int global_memory_bus_width = 37;
constexpr int memory_clock_rate = 36;
constexpr int max_threads_per_multiprocessor = 39;
constexpr int warp_size = 10;
constexpr int clock_rate = 13;
constexpr int multiprocessor_count = 16;
constexpr int l2_cache_size = 38;
constexpr int compute_capability_major = 75;
constexpr int compute_capability_minor = 76;
constexpr int max_registers_per_multiprocessor = 82;
constexpr int max_shared_memory_per_multiprocessor = 81;
constexpr int async_engine_count = 40;

GpuRow describe(const DriverFunctions& driver, int ordinal, int device, Recorder& recorder) {
    const auto value = [&](int attribute) -> Count {
        int found = 0;
        const bool known = driver.attribute(&found, attribute, device) == cuda_success;
        return known ? Count(found) : std::nullopt;
    };
    const auto product = [](Count count, std::int64_t factor) {
        return count ? Count(*count * factor) : std::nullopt;
    };
    std::array<char, 256> name{};
    driver.device_name(name.data(), static_cast<int>(name.size()), device);
    std::size_t total_memory = 0;
    const bool memory_known = driver.total_memory(&total_memory, device) == cuda_success;
    // Two transfers per clock (double data rate); the clock is in kHz, the width in bits.
    const Count bus_width = value(global_memory_bus_width);
    const Count memory_clock = product(value(memory_clock_rate), 1000);
    const Count threads = value(max_threads_per_multiprocessor);
    const Count warp = value(warp_size);

    GpuRow row;
    row.id = row.cuda_device = ordinal;
    row.name = recorder.intern(name.data());
    row.bus_location = recorder.intern(driver.bus_location_of(ordinal));
    const std::string uuid = driver.uuid_of(ordinal);
    row.uuid = recorder.intern(uuid.empty() ? "" : "GPU-" + uuid);
    row.total_memory = memory_known ? Count(static_cast<std::int64_t>(total_memory)) : std::nullopt;
    row.memory_bandwidth = bus_width ? product(memory_clock, 2 * *bus_width / 8) : std::nullopt;
    row.clock_rate = product(value(clock_rate), 1000); // kHz
    row.sm_count = value(multiprocessor_count);
    row.l2_cache = value(l2_cache_size);
    row.compute_major = value(compute_capability_major);
    row.compute_minor = value(compute_capability_minor);
    row.max_warps_per_sm = threads && warp.value_or(0) > 0 ? Count(*threads / *warp) : std::nullopt;
    row.registers_per_sm = value(max_registers_per_multiprocessor);
    row.shared_per_sm = value(max_shared_memory_per_multiprocessor);
    row.async_engines = value(async_engine_count);
    return row;
}

} // namespace

void add_gpu_rows(const DriverFunctions& driver, Recorder& recorder) {
    for (int ordinal = 0; ordinal < driver.count(); ++ordinal) {
        int device = 0;
        if (driver.device(&device, ordinal) == cuda_success) {
            recorder.add(describe(driver, ordinal, device, recorder));
        }
    }
}

} // namespace spng::recorder
