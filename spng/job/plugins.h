// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plugins: shared libraries whose components register themselves at load time.

#include <string>

namespace spng {

/// Load the library of a plugin for the lifetime of the program.
/// @param plugin  NAME (library libNAME.so), NAME:LIBRARY, or a library file. Names of the Wire-Cell Toolkit for
/// components that this program contains (WireCellSpng, WireCellPgraph, ...) need no library.
/// @throws Error(Usage) if there is no such library, naming the nearest known name, and for plugins of WCT whose
/// components do not exist here
void load_plugin(const std::string& plugin);

} // namespace spng
