// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng::recorder {

/// Options of a recording.
struct Options {
    std::string pattern;                   ///< file name, before expand_name()
    std::set<std::string> parts;           ///< nvtx, calls, and names of sources
    std::int64_t memory_limit = 256 << 20; ///< rows that wait to be written [bytes]
    std::int64_t row_limit = INT64_MAX;    ///< ranges and marks
    double spill_seconds = 0.5;            ///< interval between writes to the disk
    double sample_seconds = 0.05;          ///< interval between samples
    bool overwrite = false;                ///< replace any regular file, and not only a recording
};

std::string joined(const std::set<std::string>& names, const std::string& separator);

/// Split a text at commas. Empty items are kept.
std::vector<std::string> split(const std::string& text);

/// Parse a list of parts such as "nvtx,calls". An empty text gives all parts.
/// @throws std::invalid_argument for an unknown part; the message lists the known parts
std::set<std::string> parse_parts(const std::string& text);

/// Expand %p (process), %h (host), %q{VARIABLE} (environment) and %% in a file name.
/// @throws std::invalid_argument for any other %, for a variable that is not set, and for an empty result
std::string expand_name(const std::string& pattern);

/// Return true if the pattern contains %p, so that each process gets its own file name.
bool names_process(const std::string& pattern);

/// Return the rank of this process in a parallel job, from the variables of Open MPI, MPICH, MVAPICH, PMIx,
/// Slurm and torchrun. Return nothing outside of a job.
std::optional<int> rank_of_process();

/// Read the limits and times from SPNG_RECORD_MEMORY [MB], SPNG_RECORD_ROWS, SPNG_RECORD_SPILL [s] and
/// SPNG_RECORD_SAMPLE [s], and SPNG_RECORD_OVERWRITE (0 or 1); without a variable the default.
/// @throws std::invalid_argument for an invalid value, also of SPNG_RECORD_GRAPHS
void take_environment(Options& options);

/// Read the options from SPNG_RECORD, SPNG_RECORD_WHAT, and as take_environment().
/// @return nothing if SPNG_RECORD is not set or SPNG_RECORD_RANK names another rank
/// @throws std::invalid_argument for an invalid value
std::optional<Options> options_from_environment();

} // namespace spng::recorder
