// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report/machine.h"

#include "spng/core/files/proc_files.h"
#include "spng/instrument/not_measured.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <optional>
#include <sys/utsname.h>
#include <thread>

namespace spng::instrument {
namespace {

std::string cpu_model() {
    const std::string model = proc_value("/proc/cpuinfo", "model name");
    return model.empty() ? "unknown" : model;
}

/// Return nothing on the CPU, and if the device's allocator has no statistics.
std::optional<c10::CachingDeviceAllocator::DeviceStats> statistics_of(c10::Device device) {
    if (device.is_cpu()) {
        return std::nullopt;
    }
    try {
        auto* const allocator = c10::getDeviceAllocator(device.type());
        if (allocator->initialized()) {
            return allocator->getDeviceStats(device.has_index() ? device.index() : 0);
        }
    } catch (const c10::Error&) {
        // An allocator of another kind.
    }
    return std::nullopt;
}

constexpr auto all_pools = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);

} // namespace

Machine this_machine() {
    utsname names{};
    uname(&names);
    return {names.nodename, std::string(names.sysname) + " " + names.release, cpu_model(),
            std::thread::hardware_concurrency()};
}

std::int64_t process_peak_bytes() {
    // Not getrusage: its maximum survives exec, so a program started by a large one begins with that size.
    return proc_bytes("/proc/self/status", "VmHWM");
}

std::int64_t device_peak_bytes(c10::Device device) {
    const auto statistics = statistics_of(device);
    return statistics ? statistics->allocated_bytes[all_pools].peak : not_measured;
}

} // namespace spng::instrument
