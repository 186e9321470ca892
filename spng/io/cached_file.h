// SPDX-License-Identifier: Apache-2.0
#pragma once
// The value of a data file through the user's cache, where reading it takes less time than parsing the file.

#include "spng/core/cache/cached_value.h"
#include "spng/io/data_file.h"

namespace spng {

/// Return load(path), or what an earlier process kept of it for the same content.
/// @param load   reads the file, and rejects wrong content
/// @param visit  see find_value()
template <class Value, class Load, class Visit>
Value value_of_file(const DataFile& file, const Load& load, const Visit& visit) {
    const bool is_cached = !file.sha256.empty();
    if (auto kept = is_cached ? find_value<Value>(file.role, file.sha256, visit) : std::nullopt) {
        return std::move(*kept);
    }
    Value value = load(file.path.string());
    if (is_cached &&
        identify_data_file(file.role, file.path) == file) { // not replaced since its checksum was computed
        keep_value(file.role, file.sha256, value, visit);
    }
    return value;
}

} // namespace spng
