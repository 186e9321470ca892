// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/log.h"

#include "tests/cuda_simulator/runtime/settings.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cuda_simulator {

namespace {

struct Copies {
    std::uint64_t count = 0, bytes = 0;
};

struct TrafficOfName {
    std::uint64_t count = 0, read = 0, written = 0;
};

struct Counts {
    std::map<std::string, std::uint64_t> calls, waits, kernels, captured_kernels;
    std::map<std::string, Copies> copies;
    std::map<std::string, TrafficOfName> traffic;
    std::uint64_t replays = 0, replayed_operations = 0;
    std::vector<std::string> races, defects;
};

Counts& counts() {
    static auto* const one = new Counts;
    return *one;
}

thread_local std::uint32_t correlation = 0;

const char* copy_direction(Kind kind) {
    switch (kind) {
    case Kind::copy_to_device:
        return "to_device";
    case Kind::copy_to_host:
        return "to_host";
    case Kind::copy_on_device:
        return "on_device";
    case Kind::fill:
        return "fill";
    default:
        return nullptr;
    }
}

void add(const Launch& launch, std::map<std::string, std::uint64_t>& kernels) {
    const Operation& operation = launch.operation;
    if (const char* const direction = copy_direction(operation.kind); direction != nullptr) {
        Copies& copies = counts().copies[direction];
        ++copies.count;
        copies.bytes += operation.bytes;
    } else if (operation.kind != Kind::numbers) {
        ++kernels[readable(operation.name)];
    }
}

void add_traffic(const Operation& operation) {
    const Traffic& traffic = operation.traffic;
    if (traffic.read + traffic.written == 0) {
        return;
    }
    TrafficOfName& sum = counts().traffic[readable(operation.name)];
    ++sum.count;
    sum.read += traffic.read;
    sum.written += traffic.written;
}

/// The functions of the program and of LibTorch that led to the present call, innermost first.
std::string call_stack() {
    std::array<void*, 60> frames{};
    const int depth = backtrace(frames.data(), static_cast<int>(frames.size()));
    std::string text;
    for (int i = 0; i < depth; ++i) {
        Dl_info info{};
        if (dladdr(frames[static_cast<std::size_t>(i)], &info) != 0 && info.dli_sname != nullptr) {
            const std::string name = readable(info.dli_sname);
            if (name.find("spng::") != std::string::npos || name.find("at::native") != std::string::npos ||
                name.find("c10::cuda") != std::string::npos) {
                text += (text.empty() ? "" : " < ") + name;
            }
        }
    }
    return text;
}

std::string without_version(const std::string& name) {
    return name.substr(0, name.rfind("_v"));
}

std::string quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"' || letter == '\\') {
            quoted += '\\';
        }
        quoted += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
    return quoted + '"';
}

std::string json(const std::map<std::string, std::uint64_t>& numbers) {
    std::string text;
    for (const auto& [name, count] : numbers) {
        text += (text.empty() ? "" : ", ") + quoted(name) + ": " + std::to_string(count);
    }
    return "{" + text + "}";
}

std::string json(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += (text.empty() ? "" : ", ") + quoted(line);
    }
    return "[" + text + "]";
}

std::string json(const std::map<std::string, Copies>& copies) {
    std::string text;
    for (const auto& [direction, sum] : copies) {
        text += (text.empty() ? "" : ", ") + quoted(direction) +
                ": {\"count\": " + std::to_string(sum.count) + ", \"bytes\": " + std::to_string(sum.bytes) +
                "}";
    }
    return "{" + text + "}";
}

std::string json(const std::map<std::string, TrafficOfName>& traffic) {
    std::string text;
    for (const auto& [name, sum] : traffic) {
        text += (text.empty() ? "" : ", ") + quoted(name) + ": {\"count\": " + std::to_string(sum.count) +
                ", \"read\": " + std::to_string(sum.read) + ", \"written\": " + std::to_string(sum.written) +
                "}";
    }
    return "{" + text + "}";
}

void write_report() {
    if (settings().report.empty()) {
        return;
    }
    const std::lock_guard lock(state().mutex);
    // A child that called nothing, such as a tool that resolves addresses, may end after the process that it serves.
    const bool may_replace = !counts().calls.empty();
    FILE* const file = std::fopen(settings().report.c_str(), may_replace ? "w" : "wx");
    if (file == nullptr) {
        if (may_replace || errno != EEXIST) {
            std::perror(settings().report.c_str());
        }
        return;
    }
    const Memory& memory = state().memory;
    std::map<std::string, std::uint64_t> peaks, held;
    for (int device = 0; device < settings().devices; ++device) {
        peaks[std::to_string(device)] = memory.peak_bytes_of(device);
        held[std::to_string(device)] = memory.bytes_of(device);
    }
    const std::map<std::string, std::uint64_t> alive{{"streams", state().streams.size()},
                                                     {"events", state().events.size()},
                                                     {"graphs", state().live_graphs},
                                                     {"page_locked_bytes", memory.page_locked_bytes()}};
    const std::vector<std::pair<const char*, std::string>> entries{
        {"launches", std::to_string(state().launches)},
        {"kernels", json(counts().kernels)},
        {"captured_kernels", json(counts().captured_kernels)},
        {"replays", std::to_string(counts().replays)},
        {"replayed_operations", std::to_string(counts().replayed_operations)},
        {"copies", json(counts().copies)},
        {"traffic", json(counts().traffic)},
        {"calls", json(counts().calls)},
        {"waits", json(counts().waits)},
        {"peak_bytes", json(peaks)},
        {"held_bytes", json(held)},
        {"page_locked_peak_bytes", std::to_string(memory.page_locked_peak_bytes())},
        {"alive", json(alive)},
        {"lost_devices", std::to_string(state().lost.size())},
        {"races", json(counts().races)},
        {"defects", json(counts().defects)},
    };
    const char* separator = "{";
    for (const auto& [name, value] : entries) {
        std::fprintf(file, "%s\n \"%s\": %s", separator, name, value.c_str());
        separator = ",";
    }
    std::fprintf(file, "\n}\n");
    std::fclose(file);
}

const struct ReportAtEnd {
    ~ReportAtEnd() { write_report(); }
} report_at_end;

} // namespace

std::string readable(const std::string& name) {
    int status = 0;
    char* const demangled = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    const std::string full = demangled == nullptr ? name : demangled;
    std::free(demangled);
    constexpr std::size_t most = 160;
    return full.size() <= most ? full : full.substr(0, most) + "...";
}

void count(const Launch& launch) {
    add(launch, counts().kernels);
    add_traffic(launch.operation);
}

void count_captured(const Launch& launch) {
    add(launch, counts().captured_kernels);
}

void count_replay(const Graph& graph) {
    ++counts().replays;
    for (const Launch& launch : graph.launches) {
        add_traffic(launch.operation);
    }
    counts().replayed_operations += static_cast<std::uint64_t>(
        std::count_if(graph.launches.begin(), graph.launches.end(),
                      [](const Launch& launch) { return launch.operation.kind != Kind::numbers; }));
}

void count_call(const char* name) {
    ++counts().calls[without_version(name)];
}

void count_wait(const char* name) {
    ++counts().waits[without_version(name) + (settings().notes_waits ? " < " + call_stack() : "")];
}

void report_race(const Actor& earlier, const Actor& later, bool is_write, const Block& block) {
    constexpr std::size_t most = 20;
    std::vector<std::string>& races = counts().races;
    if (races.size() == most) {
        return;
    }
    const std::string where =
        block.is_on_host ? "page-locked memory" : "memory of cuda:" + std::to_string(block.device);
    const auto summary = [](const Actor& actor) {
        return readable(actor.name) + " (operation " + std::to_string(actor.index) + ", stream " +
               std::to_string(actor.stream) + ")";
    };
    races.push_back(std::string(is_write ? "write" : "read") + " of " + where +
                    " without order: " + summary(later) + " after " + summary(earlier));
    std::fprintf(stderr, "cuda_simulator: %s\n", races.back().c_str());
}

void report_defect(const std::string& what) {
    const std::lock_guard lock(state().mutex);
    std::vector<std::string>& defects = counts().defects;
    if (std::find(defects.begin(), defects.end(), what) == defects.end()) {
        defects.push_back(what);
        std::fprintf(stderr, "cuda_simulator: %s\n", what.c_str());
    }
}

void report_broken_capture(const char* name) {
    std::fprintf(stderr, "cuda_simulator: %s while a stream captures < %s\n", name, call_stack().c_str());
}

std::uint32_t current_correlation() {
    return correlation;
}

std::uint32_t begin_correlation() {
    static std::uint32_t last = 0;
    return correlation = ++last;
}

} // namespace cuda_simulator

/// Called by the stubs of missing.py.
extern "C" int cuda_simulator_missing(const char* function) {
    cuda_simulator::report_defect(std::string("the simulator has no ") + function);
    return cudaErrorNotSupported;
}
