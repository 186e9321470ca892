// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng {

/// Return the hint for the name of a file that cannot be used: that of URLs such as root://server/file, else `other`.
std::string url_hint(const std::string& name, std::string other = {});

} // namespace spng
