// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/options.h"

#include "profiling/recorder/activity_source.h"
#include "spng/core/parse_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <unistd.h>

namespace spng::recorder {
namespace {

std::string host_name() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// Return the numeric value of an environment variable, or `otherwise` if it is not set.
/// @throws std::invalid_argument if the value is not a number in [low, high]
double environment_value(const char* variable, double otherwise, double low, double high) {
    const char* const text = std::getenv(variable);
    if (text == nullptr || *text == '\0') {
        return otherwise;
    }
    const auto value = parse_value<double>(text);
    if (!value || !(*value >= low && *value <= high)) {
        throw std::invalid_argument(std::string(variable) + " is '" + text + "', expected a number from " +
                                    std::to_string(low) + " to " + std::to_string(high));
    }
    return *value;
}

} // namespace

std::vector<SourceType>& source_types() {
    static std::vector<SourceType> all;
    return all;
}

std::string joined(const std::set<std::string>& names, const std::string& separator) {
    std::string text;
    for (const auto& name : names) {
        text += (text.empty() ? "" : separator) + name;
    }
    return text;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        words.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return words;
}

std::set<std::string> parse_parts(const std::string& text) {
    std::set<std::string> known{"nvtx", "calls"};
    for (const auto& type : source_types()) {
        known.insert(type.part);
    }
    if (text.empty()) {
        return known;
    }
    std::set<std::string> parts;
    for (const auto& part : split(text)) {
        if (!known.contains(part)) {
            throw std::invalid_argument("no part '" + part + "' in this recorder, expected some of " +
                                        joined(known, ", "));
        }
        parts.insert(part);
    }
    return parts;
}

std::string expand_name(const std::string& pattern) {
    std::string name;
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            name += pattern[i];
            continue;
        }
        const char letter = i + 1 < pattern.size() ? pattern[++i] : '\0';
        if (letter == '%') {
            name += '%';
        } else if (letter == 'p') {
            name += std::to_string(getpid());
        } else if (letter == 'h') {
            name += host_name();
        } else if (const auto end = pattern.find('}', i);
                   letter == 'q' && pattern.compare(i + 1, 1, "{") == 0 && end != std::string::npos) {
            const std::string variable = pattern.substr(i + 2, end - i - 2);
            const char* const value = std::getenv(variable.c_str());
            if (value == nullptr) {
                std::string message = "the environment variable '";
                message.append(variable).append("' in the name '").append(pattern).append("' is not set");
                throw std::invalid_argument(message);
            }
            name += value;
            i = end;
        } else {
            throw std::invalid_argument("the name '" + pattern +
                                        "' has an unknown % sequence, expected %p, %h, %q{VARIABLE} or %%");
        }
    }
    if (name.empty()) {
        throw std::invalid_argument("the name of the recording is empty");
    }
    return name;
}

bool names_process(const std::string& pattern) {
    for (std::size_t i = 0; i + 1 < pattern.size(); ++i) {
        if (pattern[i] == '%') {
            if (pattern[i + 1] == 'p') {
                return true;
            }
            ++i;
        }
    }
    return false;
}

std::optional<int> rank_of_process() {
    for (const char* const variable :
         {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID", "RANK"}) {
        const char* const text = std::getenv(variable);
        int rank = 0;
        if (text != nullptr && std::from_chars(text, text + std::strlen(text), rank).ec == std::errc{}) {
            return rank;
        }
    }
    return std::nullopt;
}

void take_environment(Options& options) {
    const Options defaults;
    options.memory_limit = static_cast<std::int64_t>(
        1e6 *
        environment_value("SPNG_RECORD_MEMORY", 1e-6 * static_cast<double>(defaults.memory_limit), 1, 1e6));
    const double rows = environment_value("SPNG_RECORD_ROWS", 0, 1, 1e15);
    options.row_limit = rows > 0 ? static_cast<std::int64_t>(rows) : defaults.row_limit;
    options.spill_seconds = environment_value("SPNG_RECORD_SPILL", defaults.spill_seconds, 0.01, 3600);
    options.sample_seconds = environment_value("SPNG_RECORD_SAMPLE", defaults.sample_seconds, 0.001, 3600);
    options.overwrite = environment_value("SPNG_RECORD_OVERWRITE", 0, 0, 1) > 0;
    const char* const graphs = std::getenv("SPNG_RECORD_GRAPHS"); // the CUDA source reads it
    if (graphs != nullptr && std::string(graphs) != "whole" && std::string(graphs) != "nodes") {
        throw std::invalid_argument("SPNG_RECORD_GRAPHS is '" + std::string(graphs) +
                                    "', expected whole or nodes");
    }
}

std::optional<Options> options_from_environment() {
    const char* const file = std::getenv("SPNG_RECORD");
    if (file == nullptr || *file == '\0') {
        return std::nullopt;
    }
    const double rank = environment_value("SPNG_RECORD_RANK", -1, 0, 1e9);
    if (rank >= 0 && rank != rank_of_process().value_or(0)) {
        return std::nullopt;
    }
    Options options;
    options.pattern = file;
    const char* const what = std::getenv("SPNG_RECORD_WHAT");
    try {
        options.parts = parse_parts(what == nullptr ? "" : what);
    } catch (const std::invalid_argument& problem) {
        throw std::invalid_argument(std::string("SPNG_RECORD_WHAT: ") + problem.what());
    }
    take_environment(options);
    return options;
}

} // namespace spng::recorder
