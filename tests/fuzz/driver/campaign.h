// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fuzz/target.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spng::fuzz {

struct CampaignOptions {
    std::filesystem::path corpus;
    std::filesystem::path out; ///< folder of inputs that fail
    std::uint64_t count = 0;   ///< random inputs; 0: as many as the time allows
    double seconds = 0;        ///< 0: no limit
    std::uint64_t seed = 1;
    bool sweep = false;
};

struct Failure {
    std::string reason;
    std::filesystem::path file;
    std::uint64_t count = 0; ///< inputs that fail for this reason
    std::string replay;      ///< command that runs the input again
};

struct CampaignReport {
    std::uint64_t inputs = 0;
    double seconds = 0;
    std::size_t corpus_files = 0;
    std::size_t results = 0;     ///< different results, see Results
    std::int64_t peak_bytes = 0; ///< the most that an input allocates at a time
    std::vector<Failure> failures;
};

/// Run the inputs of a target in child processes. A child that ends early is a failure: its input is saved, and the next
/// child continues behind it.
CampaignReport run_campaign(const Target& target, const CampaignOptions& options);

} // namespace spng::fuzz
