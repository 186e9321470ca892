// SPDX-License-Identifier: Apache-2.0
#pragma once
// Identity of this build, for --version and reports. Only version.cxx includes the generated header, which
// changes with every commit.

#include <string>

namespace spng {

struct BuildInfo {
    std::string version, commit;
    std::string build; ///< mode and compiler
    std::string torch_version;
};
const BuildInfo& build_info();

/// "wire-cell (SPNG) 0.1.0 ..." and the versions of the parts, several lines.
std::string version_text();

} // namespace spng
