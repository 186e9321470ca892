// SPDX-License-Identifier: Apache-2.0
#pragma once
// Types of column values. Each kind of value has its own type, so that RowWriter converts every time to the
// start of the session and every name to its index in the string table.

#include <cstdint>

namespace spng::recorder {

/// Time of CLOCK_MONOTONIC [ns]. Written as nanoseconds since the start of the session.
struct TimePoint {
    std::int64_t ns = 0;
};

/// Index in the string table, StringIds. 0 means no string and is written as NULL.
struct StringId {
    std::uint32_t index = 0;
};

/// String of the table that is written as text instead of its index.
struct InlineString {
    StringId id;
};

/// Written as NULL.
struct Null {};

} // namespace spng::recorder
