// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values in the user's cache.

#include "spng/core/cache/byte_record.h"
#include "spng/core/cache/user_cache.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace spng {

/// Return a value that was kept.
/// @param visit  describes it to a RecordWriter or RecordReader
template <class Value, class Visit>
std::optional<Value> find_value(const std::string& kind, const std::string& key, const Visit& visit) {
    const auto kept = find_in_cache(kind, key);
    if (!kept) {
        return std::nullopt;
    }
    try {
        RecordReader record(*kept);
        Value value;
        visit(record, value);
        return record.is_at_end() ? std::optional(std::move(value)) : std::nullopt;
    } catch (const std::out_of_range&) { // as if absent
        return std::nullopt;
    }
}

template <class Value, class Visit>
void keep_value(const std::string& kind, const std::string& key, Value& value, const Visit& visit) {
    RecordWriter record;
    visit(record, value);
    keep_in_cache(kind, key, record.text());
}

} // namespace spng
