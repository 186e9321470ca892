#pragma once
// What columns hold. Each kind of value has a type of its own, so that a time can never be written without
// being put on the session's scale, and a name never as something else than its place in the string table.

#include <cstdint>

namespace spng::recorder {

/// CLOCK_MONOTONIC in nanoseconds. Written as nanoseconds since the session's start.
struct TimePoint {
    std::int64_t ns = 0;
};

/// Number in the string table, StringIds. 0 is no string and is written as NULL.
struct StringId {
    std::uint32_t number = 0;
};

/// A string of the table that is to be written out instead of its number.
struct Spelled {
    StringId id;
};

/// Written as NULL.
struct Null {};

} // namespace spng::recorder
