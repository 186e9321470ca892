// SPDX-License-Identifier: Apache-2.0
#pragma once
// The value of a data file through the user's cache, where reading it takes less time than parsing the file.

#include "spng/core/files/byte_record.h"
#include "spng/core/files/user_cache.h"
#include "spng/io/data_file.h"

#include <stdexcept>

namespace spng {

/// Return load(file), or what an earlier process kept of it for the same content.
/// @param load   reads the file by its path, and rejects wrong content
/// @param visit  describes the value to a RecordWriter or RecordReader
template <class Value, class Load, class Visit>
Value value_of_file(const DataFile& file, const Load& load, const Visit& visit) {
    const bool is_cached = !file.sha256.empty();
    if (const auto kept = is_cached ? find_in_cache(file.role, file.sha256) : std::nullopt) {
        try {
            RecordReader record(*kept);
            Value value;
            visit(record, value);
            if (record.is_at_end()) {
                return value;
            }
        } catch (const std::out_of_range&) { // as if absent
        }
    }
    Value value = load(file.path.string());
    if (is_cached &&
        identify_data_file(file.role, file.path) == file) { // not replaced since its checksum was computed
        RecordWriter record;
        visit(record, value);
        keep_in_cache(file.role, file.sha256, record.text());
    }
    return value;
}

} // namespace spng
