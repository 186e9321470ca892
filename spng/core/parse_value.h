// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace spng {

/// Return the value that the whole text is, as std::from_chars() reads it: no blanks, no '+'. Nothing for any
/// other text, and for a value that does not fit the type.
template <class Value>
std::optional<Value> parse_value(std::string_view text) {
    Value value{};
    const char* const end = text.data() + text.size();
    const auto [rest, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc{} && rest == end ? std::optional(value) : std::nullopt;
}

} // namespace spng
