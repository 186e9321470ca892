#pragma once
// Warnings about input that the job can work on but whose result is doubtful; `wire-cell --strict` makes them
// errors.

#include "spng/core/error.h"

#include <string>

namespace spng {

/// Make warn_about_input() throw from now on. Set once, from the command line.
void set_strict(bool strict);
bool is_strict();

/// Log the text as one warning, or throw it as Error(Input) when is_strict(). Thread-safe.
/// @param logger  name of the component that looked at the input
/// @return the logged line
std::string warn_about_input(const std::string& logger, const ErrorText& text);

} // namespace spng
