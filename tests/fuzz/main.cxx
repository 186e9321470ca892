// SPDX-License-Identifier: Apache-2.0
// Feed the readers of the program with damaged input: see docs/development.md.

#include "tests/fuzz/driver/campaign.h"
#include "tests/fuzz/driver/input_file.h"
#include "tests/fuzz/driver/memory_meter.h"
#include "tests/fuzz/driver/run_input.h"

#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

// Undefined behaviour ends the process as a crash does. An allocation of 4 GB or more fails as on a small machine.
extern "C" const char* __asan_default_options() {
    return "detect_leaks=0:allocator_may_return_null=1:max_allocation_size_mb=4097:detect_odr_violation=0";
}
extern "C" const char* __ubsan_default_options() {
    return "halt_on_error=1:print_stacktrace=1";
}

namespace spng::fuzz {
namespace {

constexpr const char* usage =
    R"(spng_fuzz TARGET --corpus DIR [options]   run the files of DIR and mutations of them
spng_fuzz TARGET --replay FILE...         run files in this process, for a debugger
spng_fuzz --list                          print the targets

  --count N     random mutations (default 1000; with --seconds as many as the time allows)
  --seconds S   end after this time
  --seed S      of the random numbers (default 1)
  --sweep       before the random mutations, cut each file at 64 positions and flip its single bits
  --out DIR     folder of the inputs that fail (default out/fuzz)

The last line of the output is the report as JSON. The status is 1 if an input failed, 2 for a wrong command line.
)";

struct Arguments {
    std::string target;
    std::vector<std::string> replayed;
    CampaignOptions options;
};

[[noreturn]] void usage_error(const std::string& problem) {
    throw std::invalid_argument(problem);
}

Arguments parse(const std::vector<std::string>& words) {
    Arguments arguments;
    std::optional<std::uint64_t> count;
    arguments.options.out = "out/fuzz";
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto value = [&]() -> const std::string& {
            return i + 1 < words.size() ? words[++i] : (usage_error(word + " needs a value"), word);
        };
        if (word == "--corpus") {
            arguments.options.corpus = value();
        } else if (word == "--out") {
            arguments.options.out = value();
        } else if (word == "--count") {
            count = std::stoull(value());
        } else if (word == "--seconds") {
            arguments.options.seconds = std::stod(value());
        } else if (word == "--seed") {
            arguments.options.seed = std::stoull(value());
        } else if (word == "--sweep") {
            arguments.options.sweep = true;
        } else if (word == "--replay") {
            arguments.replayed.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
            i = words.size();
        } else if (arguments.target.empty() && !word.starts_with("-")) {
            arguments.target = word;
        } else {
            usage_error("unknown argument " + word);
        }
    }
    if (arguments.replayed.empty() && arguments.options.corpus.empty()) {
        usage_error("give --corpus or --replay");
    }
    arguments.options.count = count.value_or(arguments.options.seconds > 0 ? 0 : 1000);
    return arguments;
}

int replay(const Target& target, const std::vector<std::string>& files) {
    const ScratchFolder scratch;
    int status = 0;
    for (const std::string& file : files) {
        Results results;
        try {
            const InputCost cost = run_input(target, scratch.path(), read_file(file), results);
            std::printf("%s: %lld bytes at a time\n", file.c_str(), static_cast<long long>(cost.peak_bytes));
        } catch (const Defect& defect) {
            std::printf("%s: FAILED: %s\n", file.c_str(), defect.what());
            status = 1;
        }
        for (const std::string& result : results.all()) {
            std::printf("  %s\n", result.c_str());
        }
    }
    return status;
}

int campaign(const Target& target, const CampaignOptions& options) {
    const CampaignReport report = run_campaign(target, options);
    nlohmann::json failures = nlohmann::json::array();
    for (const Failure& failure : report.failures) {
        failures.push_back({{"reason", failure.reason},
                            {"file", failure.file.string()},
                            {"count", failure.count},
                            {"replay", failure.replay}});
    }
    const nlohmann::json text{{"target", target.name},     {"inputs", report.inputs},
                              {"seconds", report.seconds}, {"corpus_files", report.corpus_files},
                              {"results", report.results}, {"peak_bytes", report.peak_bytes},
                              {"failures", failures}};
    std::printf("%s\n", text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return report.failures.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
    if (words == std::vector<std::string>{"--list"}) {
        for (const Target& target : targets()) {
            std::printf("%s\n", target.name);
        }
        return 0;
    }
    if (words.empty() || words == std::vector<std::string>{"--help"}) {
        std::printf("%s", usage);
        return words.empty() ? 2 : 0;
    }
    const Arguments arguments = parse(words);
    const Target& target = target_named(arguments.target);
    return arguments.replayed.empty() ? campaign(target, arguments.options)
                                      : replay(target, arguments.replayed);
}

} // namespace
} // namespace spng::fuzz

int main(int argc, char** argv) {
    spng::fuzz::start_memory_meter();
    at::set_num_threads(1); // threads do not survive fork()
    try {
        return spng::fuzz::run({argv + 1, argv + argc});
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "spng_fuzz: %s\n", problem.what());
        return 2;
    }
}
