// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/replaced_file.h"

#include "profiling/recorder/file/database.h"
#include "profiling/recorder/file/part_file.h"

#include <filesystem>
#include <system_error>

namespace spng::recorder {
namespace {

/// Return true for a finished recording: not for an export of nsys, nor for an unfinished recording, which may hold the only
/// copy of its rows.
bool is_recording(const std::string& path) {
    try {
        Database file(path, Database::Mode::read);
        return file.has_table("SPNG_RUN") && !file.has_table(open_ranges_table);
    } catch (const DatabaseError&) {
        return false;
    }
}

} // namespace

void require_replaceable(const std::string& target) {
    std::error_code problem;
    const auto size = std::filesystem::file_size(target, problem);
    if (!problem && size > 0 && !is_recording(target)) {
        throw DatabaseError("would replace " + target +
                            ", which is no recording; choose another name, or --overwrite "
                            "(SPNG_RECORD_OVERWRITE=1)");
    }
}

} // namespace spng::recorder
