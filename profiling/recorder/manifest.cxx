// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/manifest.h"

#include "profiling/recorder/clock.h"
#include "profiling/recorder/thread_buffer.h"
#include "spng/core/files/proc_files.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sys/utsname.h>
#include <unistd.h>

namespace spng::recorder {
namespace {

constexpr const char* recorder_version = "1";

/// Return the command line of this process, with single quotes around words with special characters.
std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::string line;
    for (std::size_t begin = 0; begin < bytes.size();) {
        const auto end = std::min(bytes.find('\0', begin), bytes.size());
        const std::string word = bytes.substr(begin, end - begin);
        const bool plain =
            !word.empty() && word.find_first_of(" \t\n'\"\\$&|;<>()*?[]{}`!#~") == std::string::npos;
        std::string shown = plain ? word : "'";
        for (const char letter : plain ? "" : word) {
            shown += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
        }
        line += (line.empty() ? "" : " ") + shown + (plain ? "" : "'");
        begin = end + 1;
    }
    return line;
}

std::string link_target(const char* path) {
    char target[PATH_MAX] = "";
    const auto length = readlink(path, target, sizeof target - 1);
    return {target, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

RangeOverhead measure_range_overhead() {
    constexpr int ranges = 1000;
    ChunkPool pool;
    pool.set_limit(1 << 20, nullptr);
    std::atomic<std::int64_t> rows_left{INT64_MAX};
    RangeOverhead best{1e9, 1e9};
    for (int repetition = 0; repetition < 5; ++repetition) {
        ThreadBuffer buffer(0, pool, rows_left);
        NvtxRow row;
        row.domain = 1;
        const TimePoint begin = now();
        for (int range = 0; range < ranges; ++range) {
            buffer.push(row, true);
            buffer.pop(1);
        }
        const double total = static_cast<double>(now().ns - begin.ns) / ranges;
        auto taken = buffer.take();
        double inside = 0;
        for (auto& chunk : taken.chunks) {
            for (std::size_t i = 0; i < chunk->used; ++i) {
                inside += static_cast<double>(chunk->rows[i].end.ns - chunk->rows[i].start.ns) / ranges;
            }
            pool.give_back(std::move(chunk));
        }
        best = {std::min(best.per_range_ns, total), std::min(best.inside_ns, inside)};
    }
    return best;
}

} // namespace

const RangeOverhead& range_overhead() {
    static const RangeOverhead overhead = measure_range_overhead();
    return overhead;
}

std::vector<std::pair<std::string, std::string>> manifest_at_start(const Options& options,
                                                                   const std::string& final_name) {
    utsname system{};
    uname(&system);
    std::vector<std::pair<std::string, std::string>> manifest{
        {"file", final_name},
        {"format", "spng-recording 1"},
        {"recorder_version", recorder_version},
        {"what", joined(options.parts, ",")},
        {"tier", "nvtx"},
        {"process", std::to_string(getpid())},
        {"program", link_target("/proc/self/exe")},
        {"command_line", command_line()},
        {"working_folder", link_target("/proc/self/cwd")},
        {"host", system.nodename},
        {"system", std::string(system.sysname) + " " + system.release},
        {"cpu_architecture", system.machine},
        {"cpu", proc_value("/proc/cpuinfo", "model name")},
        {"cpu_cores", std::to_string(sysconf(_SC_NPROCESSORS_ONLN))},
        {"memory", proc_value("/proc/meminfo", "MemTotal")},
        {"start_utc_ns", std::to_string(clock_ns(CLOCK_REALTIME))},
        {"range_overhead_ns", std::to_string(range_overhead().per_range_ns)},
        {"range_overhead_inside_ns", std::to_string(range_overhead().inside_ns)},
        {"spill_seconds", std::to_string(options.spill_seconds)},
        {"end", "killed"}};
    if (const auto rank = rank_of_process()) {
        manifest.emplace_back("rank", std::to_string(*rank));
    }
    for (const char* const variable :
         {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "CUDA_VISIBLE_DEVICES",
          "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF", "SLURM_JOB_ID"}) {
        if (const char* const value = std::getenv(variable)) {
            manifest.emplace_back(std::string("environment.") + variable, value);
        }
    }
    return manifest;
}

} // namespace spng::recorder
