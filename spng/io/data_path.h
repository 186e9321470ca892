// SPDX-License-Identifier: Apache-2.0
#pragma once
// Search path for configuration and data files. Jobs name these files without their folder and run from any
// folder.

#include <filesystem>
#include <string>
#include <vector>

namespace spng {

/// Set the folders to search before the project's own ones. The default is WIRECELL_PATH; the program puts
/// the folders of -P before it. Not thread-safe: call it before the first search.
void set_search_path(std::vector<std::filesystem::path> folders);
const std::vector<std::filesystem::path>& search_path();

/// Return the folders in an environment variable, separated by colons.
std::vector<std::filesystem::path> folders_of_environment(const char* variable);

/// Return the project's own folder "cfg" or "data": `share/wirecell/<name>` of an installation or `<name>` of
/// a checkout, relative to this library or to the program. Empty if there is none.
std::filesystem::path own_folder(const std::string& name);

/// Find a file: as given (absolute or from the current folder), then in the search path, then in the `more`
/// folders.
///
/// A file of the current folder that hides one of the same name in the `more` folders gives a warning; a file
/// of the search path that does so gives an info line. A name that begins with ./ or ../ gives neither.
/// @param what    "data file", for the message
/// @param source  see find_data_file()
/// @throws Error(Configuration) that lists the searched folders; the hint names the source or the file nearest in name
std::filesystem::path find_file(const std::string& name, const std::vector<std::filesystem::path>& more,
                                const std::string& what, const std::string& source = "");

/// Find a data file of a configuration, for example "protodunehd-wires-larsoft-v1.json.bz2": as find_file(),
/// with the own data folder and then the folders of SPNG_DATA as `more` folders.
/// @param source  public repository of the file, for the hint of the error; empty: unknown
std::filesystem::path find_data_file(const std::string& name, const std::string& source = "");

/// Return the same as a list of one path; empty if there is no such file.
std::vector<std::filesystem::path> data_file_if_found(const std::string& name);

} // namespace spng
