// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/settings.h"

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

Settings read() {
    Settings read;
    read.devices = static_cast<int>(number("DEVICES").value_or(1));
    const char* const memory = variable("MEMORY_MB");
    read.memory_bytes =
        static_cast<std::size_t>((memory == nullptr ? 80e3 : std::strtod(memory, nullptr)) * 1e6);
    read.lost_after = number("LOST_AFTER");
    read.lost_device = static_cast<int>(number("LOST_DEVICE").value_or(-1));
    read.refused_allocation = number("REFUSED_ALLOCATION");
    read.runs_at_once = number("EAGER").value_or(0) != 0;
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

} // namespace cuda_simulator
