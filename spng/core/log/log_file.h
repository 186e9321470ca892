// SPDX-License-Identifier: Apache-2.0
#pragma once
// Delayed opening of log files, for the time until the program has found out which files its job reads. The
// lines stay in memory until the files are opened, so that a log is never written into an input.

#include <string>
#include <vector>

namespace spng::log {

/// Let later calls of add_sink() keep the lines of a file in memory instead of opening it.
void hold_files();

/// Return the names of the files that are not open yet, in the order of add_sink().
std::vector<std::string> held_files();

/// Open the held files for appending, write their lines, and stop holding files.
/// @throws Error(Usage) for a file that cannot be opened
void open_held_files();

/// Open only the held files that do not exist yet, and name the others on stderr: an existing file may hold
/// data. For a program that fails before it has found out the files of its job. Never throws.
void give_up_held_files() noexcept;

/// Drop the held files with their lines, for a program that must not write to one of them.
void drop_held_files();

} // namespace spng::log
