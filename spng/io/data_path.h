#pragma once
// Where configuration and data files are found, so that jobs name them by file name only and run from any
// folder.

#include <filesystem>
#include <string>
#include <vector>

namespace spng {

/// Folders to search before the project's own ones. Until it is called they are those of WIRECELL_PATH; the
/// program puts the folders of -P before these. Not thread-safe: call it before anything is looked up.
void set_search_path(std::vector<std::filesystem::path> folders);
const std::vector<std::filesystem::path>& search_path();

/// The folders of WIRECELL_PATH, separated by colons.
std::vector<std::filesystem::path> folders_of_environment(const char* variable);

/// The project's own folder "cfg" or "data": `share/wirecell/<name>` of an installation or `<name>` of a
/// checkout, found from the place of this library and of the program. Empty when there is none.
std::filesystem::path own_folder(const std::string& name);

/// A file by its name: as given (absolute or from the current folder), in the search path, in `more` folders
/// in turn.
/// Log a warning when a file of the current folder hides one of the same name in the `more` folders, an info
/// line when a file of the search path does; a name that begins with ./ or ../ says which one is meant.
/// @param what  "data file", in the message
/// Throws Error(Configuration) that lists the places and names the file nearest in name.
std::filesystem::path find_file(const std::string& name, const std::vector<std::filesystem::path>& more,
                                const std::string& what);

/// A data file that a configuration names, for example "protodunehd-wires-larsoft-v1.json.bz2": as find_file,
/// then in the own data folder, then in the folders of SPNG_DATA.
std::filesystem::path find_data_file(const std::string& name);

/// The same as a list of one; empty when there is no such file.
std::vector<std::filesystem::path> data_file_if_found(const std::string& name);

} // namespace spng
