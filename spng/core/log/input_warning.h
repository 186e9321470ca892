// SPDX-License-Identifier: Apache-2.0
#pragma once
// Warnings about input that the job can process with a doubtful result. `wire-cell --strict` turns them into
// errors.

#include "spng/core/error.h"

#include <string>

namespace spng {

/// Choose whether warn_about_input() throws. Set once, from the command line.
void set_strict(bool strict);
bool is_strict();

/// Return the text as one line.
std::string input_warning_line(const ErrorText& text);

/// Log the text as one warning, also if is_strict(). Thread-safe.
/// @param logger  name of the component that examined the input
/// @return the logged line
std::string log_input_warning(const std::string& logger, const ErrorText& text);

/// Log the text as one warning. Thread-safe.
/// @return as log_input_warning()
/// @throws Error(Input) with the text if is_strict()
std::string warn_about_input(const std::string& logger, const ErrorText& text);

} // namespace spng
