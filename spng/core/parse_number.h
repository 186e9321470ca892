// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace spng {

/// Return the number that the whole text is, as std::from_chars() reads it: no blanks, no '+'. Nothing for any
/// other text, and for a number that does not fit the type.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

} // namespace spng
