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
constexpr long processor_seconds = 2;
constexpr unsigned wall_seconds = 60;

class TimeLimit {
public:
    TimeLimit() { set(processor_seconds, wall_seconds); }
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

/// Return the growth of the allocated bytes.
std::int64_t run_once(const Target& target, const Input& input, Results& results) {
    const std::int64_t before = live_bytes();
    {
        Results own;
        const TimeLimit limit;
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
        for (const std::string& result : own.all()) {
            results.add(result);
        }
    }
    return live_bytes() - before;
}

/// Caches grow once; a leak grows each time.
void reject_leak(const Target& target, const Input& input) {
    constexpr int runs = 3;
    std::int64_t least = 1;
    for (int i = 0; i < runs && least > 0; ++i) {
        Results ignored;
        run_once(target, input, ignored);
        Results known = ignored;
        least = std::min(least, run_once(target, input, known));
    }
    if (least > 0) {
        throw Defect("memory is not freed after the input");
    }
}

} // namespace

InputCost run_input(const Target& target, const std::filesystem::path& folder, const std::string& bytes,
                    Results& results) {
    const Input input{folder / target.file_name, bytes};
    write_file(input.file, bytes);
    reset_peak();
    const std::int64_t before = live_bytes();
    const std::int64_t results_before = static_cast<std::int64_t>(results.all().size());
    const std::int64_t growth = run_once(target, input, results);
    const InputCost cost{peak_bytes() - before};
    if (cost.peak_bytes > target.allowed_bytes(bytes)) {
        throw Defect("too much memory: " + std::to_string(cost.peak_bytes) +
                     " bytes at a time, allowed are " + std::to_string(target.allowed_bytes(bytes)));
    }
    if (growth > 0 && results_before == static_cast<std::int64_t>(results.all().size())) {
        reject_leak(target, input);
    }
    return cost;
}

} // namespace spng::fuzz
