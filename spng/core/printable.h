// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace spng {

/// Return text for a terminal or a log: names come from files, and a control character in a name could change the
/// terminal's title, colours or keys. Control characters (C0 except newline and tab, DEL, C1) and the Unicode marks
/// that reverse the direction of writing become visible escapes such as \x1b. The middle of a text longer than
/// `max_bytes` is replaced by "... (N bytes) ...".
std::string printable(std::string_view text, std::size_t max_bytes = std::string_view::npos);

} // namespace spng
