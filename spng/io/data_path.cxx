// SPDX-License-Identifier: Apache-2.0
#include "spng/io/data_path.h"

#include "spng/core/error.h"
#include "spng/core/files/url.h"
#include "spng/core/log/log.h"
#include "spng/core/nearest.h"
#include "spng/core/shared_library.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>

namespace spng {
namespace {

namespace fs = std::filesystem;

std::optional<std::vector<fs::path>>& chosen_search_path() {
    static std::optional<std::vector<fs::path>> folders;
    return folders;
}

/// Return the folders of this library and of the program. They differ if the library is installed elsewhere
/// or linked into another program.
std::vector<fs::path> own_locations() {
    std::vector<fs::path> locations;
    std::error_code problem;
    if (const fs::path library = fs::canonical(SharedLibrary::file_of(&own_folder), problem); !problem) {
        locations.push_back(library.parent_path());
    }
    if (const fs::path program = fs::read_symlink("/proc/self/exe", problem); !problem) {
        locations.push_back(program.parent_path());
    }
    return locations;
}

/// Return the folder that holds the project's cfg and data folders.
fs::path own_root() {
    std::error_code problem;
    for (const fs::path& location : own_locations()) {
        for (const fs::path& root : {location / ".." / "share" / "wirecell", location / ".." / ".."}) {
            // This file tells our folder from an unrelated one of a common name.
            if (fs::exists(root / "cfg" / "lib" / "wirecell.jsonnet", problem)) {
                return fs::canonical(root, problem);
            }
        }
    }
    return {};
}

std::vector<std::string> file_names(const std::vector<fs::path>& folders) {
    std::vector<std::string> names;
    for (const fs::path& folder : folders) {
        std::error_code problem;
        for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
             entry.increment(problem)) {
            if (entry->is_regular_file(problem)) {
                names.push_back(entry->path().filename().string());
            }
        }
    }
    return names;
}

[[noreturn]] void not_found(const std::string& name, const std::vector<fs::path>& folders,
                            const std::string& what, const std::string& source) {
    std::vector<fs::path> near_folders = folders;
    std::vector<std::string> locations;
    const fs::path inner = fs::path(name).parent_path();
    for (fs::path& folder : near_folders) {
        locations.push_back(folder.empty() ? "the current folder" : folder.string());
        folder = (folder.empty() ? fs::path(".") : folder) / inner;
    }
    const std::string near = nearest_name(fs::path(name).filename().string(), file_names(near_folders));
    throw Error(
        ErrorKind::Configuration,
        {.what = what + " '" + name + "' not found",
         .seen = name,
         .expected = fs::path(name).is_absolute() ? "an existing file" : "a file in " + joined(locations),
         .hint =
             url_hint(name, !source.empty() ? "it is in " + source +
                                                  ": give the folder of your copy with -P or in WIRECELL_PATH"
                            : near.empty() ? "give its folder with -P or in WIRECELL_PATH"
                                           : "did you mean '" + (inner / near).string() + "'?")});
}

bool is_file(const fs::path& path) {
    std::error_code problem;
    const auto status = fs::status(path, problem);
    return fs::exists(status) && !fs::is_directory(status); // accept pipes and devices
}

/// Log once that a file hides one of the same name in the `more` folders: as a warning for a file of the
/// current folder, which may be there by accident.
void report_shadowing(const fs::path& taken, const std::string& name, bool is_in_current_folder,
                      const std::vector<fs::path>& more) {
    const auto folder =
        std::find_if(more.begin(), more.end(), [&](const fs::path& each) { return is_file(each / name); });
    std::error_code problem;
    if (folder == more.end() || fs::path(name).is_absolute() || name.starts_with("./") ||
        name.starts_with("../") || fs::equivalent(taken, *folder / name, problem)) {
        return;
    }
    static std::mutex mutex;
    static std::set<std::string> reported;
    const std::string text = name + ": taking " + fs::absolute(taken).string() +
                             (is_in_current_folder ? " of the current folder" : " of the search path") +
                             ", not " + fs::absolute(*folder / name).string();
    const std::lock_guard lock(mutex);
    if (reported.insert(text).second) {
        log::line("data", is_in_current_folder ? log::Level::warn : log::Level::info, text);
    }
}

} // namespace

std::vector<fs::path> folders_of_environment(const char* variable) {
    std::vector<fs::path> folders;
    const char* value = std::getenv(variable);
    std::string rest = value == nullptr ? "" : value;
    while (!rest.empty()) {
        const auto colon = rest.find(':');
        if (const std::string folder = rest.substr(0, colon); !folder.empty()) {
            folders.emplace_back(folder);
        }
        rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    return folders;
}

void set_search_path(std::vector<fs::path> folders) {
    chosen_search_path() = std::move(folders);
}

const std::vector<fs::path>& search_path() {
    auto& folders = chosen_search_path();
    if (!folders) {
        folders = folders_of_environment("WIRECELL_PATH");
    }
    return *folders;
}

fs::path own_folder(const std::string& name) {
    static const fs::path root = own_root();
    std::error_code problem;
    return !root.empty() && fs::is_directory(root / name, problem) ? root / name : fs::path{};
}

fs::path find_file(const std::string& name, const std::vector<fs::path>& more, const std::string& what,
                   const std::string& source) {
    std::vector<fs::path> folders{fs::path{}}; // the empty path is the current folder
    if (!fs::path(name).is_absolute()) {
        folders.insert(folders.end(), search_path().begin(), search_path().end());
        folders.insert(folders.end(), more.begin(), more.end());
    }
    for (std::size_t i = 0; i < folders.size(); ++i) {
        const fs::path candidate = folders[i] / name;
        if (is_file(candidate)) {
            if (i <= search_path().size()) {
                report_shadowing(candidate, name, i == 0, more);
            }
            return candidate;
        }
    }
    not_found(name, folders, what, source);
}

fs::path find_data_file(const std::string& name, const std::string& source) {
    std::vector<fs::path> more;
    if (const fs::path data = own_folder("data"); !data.empty()) {
        more = {data, data.parent_path()};
    }
    for (fs::path& folder : folders_of_environment("SPNG_DATA")) {
        more.push_back(std::move(folder));
    }
    return find_file(name, more, "data file", source);
}

std::vector<fs::path> data_file_if_found(const std::string& name) {
    try {
        return {find_data_file(name)};
    } catch (const Error&) {
        return {};
    }
}

} // namespace spng
