// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fuzz/target.h"

#include <cstdint>
#include <filesystem>
#include <string>

namespace spng::fuzz {

struct InputCost {
    std::int64_t peak_bytes = 0; ///< allocated at a time
};

/// Run the reader on an input in this process, with a limit of processor time.
/// @throws Defect for an exception other than Error, an incomplete error, too much memory, and memory that is not freed
InputCost run_input(const Target& target, const std::filesystem::path& folder, const std::string& bytes,
                    Results& results);

} // namespace spng::fuzz
