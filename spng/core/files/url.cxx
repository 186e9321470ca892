// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/url.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace spng {
namespace {

/// Tell whether a text is the scheme of a URL (RFC 3986, 3.1) of at least two letters.
bool is_scheme(std::string_view text) {
    const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
    return text.size() > 1 && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' || c == '.' || c == '-';
           });
}

} // namespace

std::string url_hint(const std::string& name, std::string other) {
    // Lists put their folder before it, and libraries of paths make one slash of two.
    for (auto colon = name.find(":/"); colon != std::string::npos; colon = name.find(":/", colon + 1)) {
        const std::string_view before = std::string_view(name).substr(0, colon);
        if (is_scheme(before.substr(before.rfind('/') + 1))) { // npos + 1 is 0
            return "this is a URL, and files must be local: copy it, or mount its file system";
        }
    }
    return other;
}

} // namespace spng
