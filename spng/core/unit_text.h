#pragma once
// Numbers with units, as people read them.

#include <cstdint>
#include <string>

namespace spng {

/// Three significant digits with a unit: "1.24 s", "61.4 ms", "850 us", "3 ns", "0".
std::string format_nanoseconds(std::int64_t nanoseconds);

/// Three significant digits in decimal units: "61.4 MB", "12 B", "0".
std::string format_bytes(std::int64_t bytes);

/// The nearest amounts that three digits can tell, not smaller and not larger: for "at least" and "at most".
std::int64_t three_digits_above(std::int64_t bytes);
std::int64_t three_digits_below(std::int64_t bytes);

} // namespace spng
