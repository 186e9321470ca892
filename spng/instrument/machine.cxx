#include "spng/instrument/machine.h"

#include "spng/instrument/node_meter.h"

#include <c10/core/CachingDeviceAllocator.h>

#include <fstream>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <thread>

namespace spng::instrument {
namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.rfind("model name", 0) == 0) {
            const auto value = line.find_first_not_of(" \t", line.find(':') + 1);
            return value == std::string::npos ? "unknown" : line.substr(value);
        }
    }
    return "unknown";
}

} // namespace

Machine this_machine() {
    utsname names{};
    uname(&names);
    return {names.nodename, std::string(names.sysname) + " " + names.release, cpu_model(),
            std::thread::hardware_concurrency()};
}

std::int64_t process_peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024; // Linux counts it in KiB
}

std::int64_t device_peak_bytes(c10::Device device) {
    if (device.is_cpu()) {
        return not_measured;
    }
    try {
        auto* const allocator = c10::getDeviceAllocator(device.type());
        if (!allocator->initialized()) {
            return not_measured;
        }
        const auto statistics = allocator->getDeviceStats(device.has_index() ? device.index() : 0);
        return statistics
            .allocated_bytes[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)]
            .peak;
    } catch (const c10::Error&) {
        return not_measured;
    }
}

} // namespace spng::instrument
