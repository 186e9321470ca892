// SPDX-License-Identifier: Apache-2.0
#include "spng/core/unit_text.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <span>

namespace spng {
namespace {

std::string with_unit(double value, std::span<const char* const> units) {
    if (value == 0) {
        return "0";
    }
    std::size_t unit = 0;
    // Change the unit from 999.5 on, which would be printed as 1000.
    while (unit + 1 < units.size() && std::abs(value) >= 999.5) {
        value /= 1000;
        ++unit;
    }
    const double size = std::abs(value);
    const int decimals = unit == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    return format_fixed(value, decimals) + " " + units[unit];
}

} // namespace

std::string format_fixed(double value, int decimals) {
    std::array<char, 48> text{};
    std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
    return text.data();
}

std::int64_t three_digits_above(std::int64_t bytes) {
    std::int64_t step = 1;
    while (bytes / step >= 1000) {
        step *= 10;
    }
    return (bytes + step - 1) / step * step;
}

std::string format_nanoseconds(std::int64_t nanoseconds) {
    return with_unit(static_cast<double>(nanoseconds), std::array{"ns", "us", "ms", "s"});
}

std::string format_bytes(std::int64_t bytes) {
    return with_unit(static_cast<double>(bytes), std::array{"B", "kB", "MB", "GB", "TB", "PB", "EB"});
}

} // namespace spng
