#pragma once
// How much is annotated, as users say it: see TorchnvTools.h for the levels.

#include <string>

namespace spng::instrument {

inline constexpr const char* nvtx_level_variable = "SPNG_NVTX_LEVEL";

/// Set the level of the process, and follow the operators of ATen when it is 4 (torch_ranges.h).
/// @param text   "0" to "4"
/// @param where  what the user wrote it in, for errors: "--nvtx-level"
/// Throws Error(Usage) for any other text; in a build without NVTX also for every level but 0, saying how to
/// get one with it.
void set_nvtx_level(const std::string& text, const std::string& where);

/// The same with what SPNG_NVTX_LEVEL says, where it is set. Ranges obey it from the start of the process;
/// this finds mistakes in it. A build without NVTX ignores it, since a variable may be meant for another
/// program.
void apply_nvtx_level_of_environment();

} // namespace spng::instrument
