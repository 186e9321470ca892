// SPDX-License-Identifier: Apache-2.0
#pragma once
// The version of the Wire-Cell Toolkit (WCT): its classes change their layout between versions, and a plugin of another version
// would read wrong memory.

#include <string>

namespace spng::wirecell {

/// Return the version of the headers that the plugin was compiled with.
std::string wirecell_of_build();

/// Return the version of the program that loaded the plugin, or "" if it does not tell: WCT's version is a variable of its
/// library apps, which wire-cell has and other programs may lack.
std::string wirecell_of_process();

/// Compare major and minor version.
/// @throws Error(Configuration) if they differ
void require_wirecell(const std::string& of_build, const std::string& of_process);

} // namespace spng::wirecell
