// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/version.h"

#include "spng/core/error.h"

#include <algorithm>

namespace spng::wirecell {
namespace {

/// Return "0.35" of "0.35.0-1069-g2ddac97f".
std::string major_and_minor(const std::string& version) {
    const std::size_t dot = version.find('.');
    const std::size_t end = dot == std::string::npos ? dot : version.find_first_not_of("0123456789", dot + 1);
    return version.substr(0, end);
}

} // namespace

void require_wirecell(const std::string& of_build, const std::string& of_process) {
    if (!of_process.empty() && major_and_minor(of_build) != major_and_minor(of_process)) {
        throw Error(ErrorKind::Configuration,
                    {.what = "the plugin was built for another version of the Wire-Cell Toolkit",
                     .where = "libWireCellSpngPlugin.so",
                     .seen = "a program of version " + of_process,
                     .expected = "version " + major_and_minor(of_build) + " (" + of_build + ")",
                     .hint = "build the plugin again: ./wcb configure --with-wirecell=DIR, ./wcb install"});
    }
}

} // namespace spng::wirecell
