// SPDX-License-Identifier: Apache-2.0
#pragma once
// Readable amounts; those with a unit have three significant digits.

#include <cstdint>
#include <string>

namespace spng {

/// Format a time: "1.24 s", "61.4 ms", "850 us", "3 ns", "0".
std::string format_nanoseconds(std::int64_t nanoseconds);

/// Format an amount of memory in decimal units: "61.4 MB", "12 B", "0".
std::string format_bytes(std::int64_t bytes);

/// Format a number with a fixed count of decimals.
std::string format_fixed(double value, int decimals = 2);

/// Round up to three significant digits, for messages with "at least".
std::int64_t three_digits_above(std::int64_t bytes);

} // namespace spng
