#pragma once
// Plugins are shared libraries whose components register themselves when they are loaded.

#include <string>

namespace spng::app {

/// Load the library of a plugin, for the whole life of the program.
/// @param plugin  NAME (library libNAME.so), NAME:LIBRARY, or a library file. The field's names for what this
/// program
///                has built in (WireCellSpng, WireCellPgraph, ...) need no library.
/// Throws Error(Usage) when there is none, naming the nearest known name.
void load_plugin(const std::string& plugin);

} // namespace spng::app
