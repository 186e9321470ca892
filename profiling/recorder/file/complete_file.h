#pragma once

#include <string>

namespace spng::recorder {

/// Make the final file of a .part file: rows sorted by their start, ranges that were still open closed at the
/// last moment that is known, the tables added that describe the session. The .part file is removed at the
/// end; `target` appears under its name only when it is complete, replacing the regular file that had it.
/// @param recovered  the recording program did not end by itself; the file says so
/// Throws DatabaseError (also when the disk is full); the .part file then stays as it is.
void complete_file(const std::string& part, const std::string& target, bool recovered);

/// The file that a recording of this name replaces or creates: symbolic links followed. Throws DatabaseError
/// for a folder, a device, a pipe or a socket, which SQLite cannot write.
std::string replaceable(const std::string& target);

/// Remove a .part file and its log.
void remove_part(const std::string& part);

/// The name that a .part file was to have. Throws DatabaseError when it is no recording.
std::string target_of(const std::string& part);

} // namespace spng::recorder
