// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/byte_size.h"

#include "spng/core/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

namespace spng {
namespace {

constexpr std::array<std::pair<const char*, double>, 10> units{{{"", 1},
                                                                {"b", 1},
                                                                {"kb", 1e3},
                                                                {"mb", 1e6},
                                                                {"gb", 1e9},
                                                                {"tb", 1e12},
                                                                {"kib", 1024},
                                                                {"mib", 1024.0 * 1024},
                                                                {"gib", 1024.0 * 1024 * 1024},
                                                                {"tib", 1024.0 * 1024 * 1024 * 1024}}};
constexpr double max_bytes = 9e18;

} // namespace

std::int64_t bytes_from(const std::string& text, const std::string& where) {
    std::string bare;
    for (const unsigned char letter : text) {
        if (std::isspace(letter) == 0) {
            bare += static_cast<char>(std::tolower(letter));
        }
    }
    if (bare.empty()) {
        return 0;
    }
    double count = 0;
    const auto [end, error] =
        std::from_chars(bare.data(), bare.data() + bare.size(), count, std::chars_format::fixed);
    const std::string unit = bare.substr(static_cast<std::size_t>(end - bare.data()));
    const auto known =
        std::find_if(units.begin(), units.end(), [&](const auto& each) { return unit == each.first; });
    if (error != std::errc{} || known == units.end() || !(count >= 0) || count * known->second > max_bytes) {
        throw Error(ErrorKind::Configuration, {.what = "invalid amount of memory",
                                               .where = where,
                                               .seen = "'" + text + "'",
                                               .expected = "a number with a unit, such as 4GB, 800MB or "
                                                           "1.5GiB; without one bytes"});
    }
    return std::llround(count * known->second);
}

} // namespace spng
