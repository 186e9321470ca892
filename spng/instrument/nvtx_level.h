// SPDX-License-Identifier: Apache-2.0
#pragma once
// The level of NVTX annotation as users give it; TorchnvTools.h defines the levels.

#include <string>

namespace spng::instrument {

inline constexpr const char* nvtx_level_variable = "SPNG_NVTX_LEVEL";

/// Set the level of the process, and follow the operators of ATen when it is 4 (torch_ranges.h).
/// @param text   "0" to "4"
/// @param where  the option, for errors: "--nvtx-level"
/// @throws Error(Usage) for other values; in a build without NVTX for every level but 0, with a hint how to build
/// with it
void set_nvtx_level(const std::string& text, const std::string& where);

/// Set the level of the environment variable SPNG_NVTX_LEVEL if it is set. Ranges follow the variable from the
/// start of the process; this call reports malformed values. A build without NVTX ignores the variable, which may
/// be meant for another program.
void apply_nvtx_level_of_environment();

} // namespace spng::instrument
