// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/settings.h"

#include "tests/cuda_simulator/simulator.h"

#include <cstdlib>

namespace cuda_simulator {
namespace {

const char* variable(const char* name) {
    const char* const text = std::getenv((std::string("CUDA_SIMULATOR_") + name).c_str());
    return text != nullptr && *text != '\0' ? text : nullptr;
}

std::optional<long> number(const char* name) {
    const char* const text = variable(name);
    return text == nullptr ? std::nullopt : std::optional(std::strtol(text, nullptr, 10));
}

std::optional<std::size_t> megabytes(const char* name) {
    const char* const text = variable(name);
    return text == nullptr ? std::nullopt
                           : std::optional(static_cast<std::size_t>(std::strtod(text, nullptr) * 1e6));
}

Settings read() {
    Settings read;
    read.devices = static_cast<int>(number("DEVICES").value_or(1));
    read.memory_bytes = megabytes("MEMORY_MB").value_or(80'000'000'000);
    read.seen_bytes = megabytes("MEMORY_SEEN_MB").value_or(read.memory_bytes);
    read.lost_after = number("LOST_AFTER");
    read.lost_device = static_cast<int>(number("LOST_DEVICE").value_or(-1));
    read.rejected_allocation = number("REJECTED_ALLOCATION");
    read.emulates_kernels = number("EMULATE").value_or(1) != 0;
    read.runs_at_once = number("EAGER").value_or(0) != 0;
    read.is_bare = number("BARE").value_or(0) != 0;
    read.notes_waits = number("WAITS").value_or(0) != 0;
    const char* const log = variable("LOG");
    read.log = log == nullptr ? "" : log;
    const char* const report = variable("REPORT");
    read.report = report == nullptr ? "" : report;
    return read;
}

} // namespace

const Settings& settings() {
    static const auto* const all = new Settings(read()); // used when the process ends
    return *all;
}

bool detects_races() {
    return !settings().is_bare;
}

bool emulates_kernels() {
    return settings().emulates_kernels;
}

} // namespace cuda_simulator
