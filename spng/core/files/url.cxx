// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/url.h"

#include <regex>

namespace spng {

std::string url_hint(const std::string& name, std::string other) {
    // Lists put their folder before it, and libraries of paths make one slash of two.
    static const std::regex scheme("(^|/)[A-Za-z][A-Za-z0-9+.-]+:/");
    return std::regex_search(name, scheme)
               ? "this is a URL, and files must be local: copy it, or mount its file system"
               : other;
}

} // namespace spng
