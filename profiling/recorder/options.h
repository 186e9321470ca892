#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng::recorder {

/// What is recorded, and how.
struct Options {
    std::string pattern;         ///< of the file's name, as the user gave it
    std::set<std::string> parts; ///< nvtx, calls, and the names of sources
    std::int64_t memory_limit = 256 << 20;
    std::int64_t row_limit = INT64_MAX;
    double spill_seconds = 0.5;
    double sample_seconds = 0.05;
};

/// What can be asked for; `defaults` only: what is recorded when nothing is said.
std::set<std::string> known_parts(bool defaults);

/// "a,b" -> a and b, whatever they are.
std::vector<std::string> split(const std::string& text);

/// "nvtx,calls" -> parts; empty gives the default. Throws std::invalid_argument naming an unknown part and
/// those that are known.
std::set<std::string> parse_parts(const std::string& text);

/// The file name with %p (process), %h (host), %q{VARIABLE} (environment) and %% replaced. Throws
/// std::invalid_argument for any other %, and for a variable that is not set.
std::string expand_name(const std::string& pattern);

/// Whether each process that expands the pattern gets a name of its own.
bool names_process(const std::string& pattern);

/// The number of this process among those of a parallel job, from the variables that Open MPI, MPICH,
/// MVAPICH, PMIx, Slurm and torchrun set; nothing outside of such a job.
std::optional<int> rank_of_process();

/// The options that a program gets through its environment: SPNG_RECORD, SPNG_RECORD_WHAT, SPNG_RECORD_MEMORY
/// (MB), SPNG_RECORD_ROWS, SPNG_RECORD_SPILL, SPNG_RECORD_SAMPLE (seconds). Nothing when SPNG_RECORD is not
/// set, or SPNG_RECORD_RANK names another rank. Throws std::invalid_argument.
std::optional<Options> options_of_environment();

} // namespace spng::recorder
