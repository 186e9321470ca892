#pragma once
// Log files of a program that does not know yet which files its job reads. Until they are opened, their lines
// are kept in memory, so that a log never lands in an input.

#include <string>
#include <vector>

namespace spng::log {

/// From now on add_sink() does not open files. Lines for them are kept.
void hold_files();

/// The names of the files that are not open yet, in the order of add_sink().
std::vector<std::string> held_files();

/// Open them to append, write the lines that were kept, and stop holding files. Throws Error(Usage) for a
/// file that cannot be opened.
void open_held_files();

/// For a program that fails before it knows the files of its job: as open_held_files(), but only for files
/// that do not exist yet, since the others may hold data. Names the others on stderr. Never throws.
void give_up_held_files() noexcept;

/// Forget the files that are not open yet, with their lines, for a program that must not write to one of
/// them.
void drop_held_files();

} // namespace spng::log
