// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng::recorder {

/// Create the final file from a .part file and remove the .part file. Sort rows by their start, end open
/// ranges at the last recorded time and add the tables that describe the session. `target` appears under its
/// name only when it is complete and replaces an existing regular file.
/// @param recovered  true: the recording process was killed; the manifest records end = recovered
/// @param overwrite  replace any regular file, and not only a recording
/// @throws DatabaseError if the target cannot be written, for example on a full disk; the .part file is kept
void finalize_file(const std::string& part, const std::string& target, bool recovered, bool overwrite);

/// Return the path that a recording with this name creates or replaces, with symbolic links resolved.
/// @throws DatabaseError for a folder, a device, a pipe or a socket, which SQLite cannot write, and unless `overwrite`
/// for a file that is no recording
std::string resolve_target(const std::string& target, bool overwrite);

/// Remove a .part file and its write-ahead log.
void remove_part(const std::string& part);

/// Return the name of the final file of a .part file: the beginning of its name, or else the name in its manifest.
/// @throws DatabaseError if the file is not an unfinished recording
std::string intended_target(const std::string& part);

} // namespace spng::recorder
