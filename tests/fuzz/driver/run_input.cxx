// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver/run_input.h"

#include "tests/fuzz/driver/input_file.h"
#include "tests/fuzz/driver/memory_meter.h"

#include <cxxabi.h>
#include <typeinfo>

#include <sys/time.h>
#include <unistd.h>

namespace spng::fuzz {
namespace {

// Of the processor, so that a busy machine makes no failure: SIGPROF ends the process. SIGALRM ends one that waits.
constexpr unsigned wall_seconds = 60;

class TimeLimit {
public:
    explicit TimeLimit(long processor_seconds) { set(processor_seconds, wall_seconds); }
    ~TimeLimit() { set(0, 0); }
    TimeLimit(const TimeLimit&) = delete;
    TimeLimit& operator=(const TimeLimit&) = delete;

private:
    static void set(long processor, unsigned wall) {
        const itimerval limit{{0, 0}, {processor, 0}};
        ::setitimer(ITIMER_PROF, &limit, nullptr);
        ::alarm(wall);
    }
};

std::string type_of(const std::exception& error) {
    int status = 0;
    char* const name = abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status);
    const std::string text = name != nullptr ? name : typeid(error).name();
    ::free(name);
    return text;
}

/// Return the growth of the allocated bytes, without that of `results`.
std::int64_t run_once(const Target& target, const Input& input, Results& results) {
    const std::int64_t before = live_bytes();
    std::int64_t kept = 0;
    {
        Results own;
        const TimeLimit limit(target.processor_seconds);
        try {
            target.run(input, own);
            own.add("ok");
        } catch (const Defect&) {
            throw;
        } catch (const Error& error) {
            own.add(error);
        } catch (const std::exception& error) {
            throw Defect("an exception that is not Error: " + type_of(error) + ": " + error.what());
        }
        kept = -live_bytes();
        for (const std::string& result : own.all()) {
            results.add(result);
        }
        kept += live_bytes();
    }
    return live_bytes() - before - kept;
}

/// Caches grow once; a leak grows each time.
void reject_leak(const Target& target, const Input& input) {
    constexpr int max_runs = 3;
    std::int64_t growth = 1;
    for (int i = 0; i < max_runs && growth > 0; ++i) {
        Results ignored;
        growth = run_once(target, input, ignored);
    }
    if (growth > 0) {
        throw Defect("memory is not freed after the input: " + std::to_string(growth) + " bytes each time");
    }
}

} // namespace

InputCost run_input(const Target& target, const std::filesystem::path& folder, const std::string& bytes,
                    Results& results) {
    const Input input{folder / target.file_name, bytes};
    write_file(input.file, bytes);
    reset_peak();
    const std::int64_t before = live_bytes();
    const std::int64_t growth = run_once(target, input, results);
    const InputCost cost{peak_bytes() - before};
    if (cost.peak_bytes > target.allowed_bytes(bytes)) {
        throw Defect("too much memory: " + std::to_string(cost.peak_bytes) +
                     " bytes at a time, allowed are " + std::to_string(target.allowed_bytes(bytes)));
    }
    if (growth > 0) {
        reject_leak(target, input);
    }
    return cost;
}

} // namespace spng::fuzz
