// SPDX-License-Identifier: Apache-2.0
#pragma once
// Find detector files for tests: in data/ of the checkout, which always exists, or in ../shared; tests skip
// without the latter.

#include <filesystem>
#include <string>

namespace spng::test {

/// Return the folder above the running program, or above the current folder, that has data/ with the wire
/// file.
inline std::filesystem::path checkout() {
    namespace fs = std::filesystem;
    std::error_code ignored;
    for (fs::path start : {fs::read_symlink("/proc/self/exe", ignored), fs::current_path()}) {
        for (fs::path folder = start; folder.has_relative_path(); folder = folder.parent_path()) {
            if (fs::exists(folder / "data" / "protodunehd-wires-larsoft-v1.json.gz", ignored)) {
                return folder;
            }
        }
    }
    return fs::current_path();
}

inline std::string data_file(const std::string& name) {
    return (checkout() / "data" / name).string();
}

/// Return the path of a file in ../shared; empty if there is none.
inline std::string shared_detector_file(const std::string& name) {
    const auto path = checkout().parent_path() / "shared" / "data" / "detector" / name;
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) ? path.string() : std::string();
}

} // namespace spng::test

// NOLINTBEGIN(bugprone-macro-parentheses): `variable` is declared
#define SPNG_SHARED_FILE_OR_SKIP(variable, name)                                                             \
    const std::string variable = spng::test::shared_detector_file(name);                                     \
    if (variable.empty()) {                                                                                  \
        GTEST_SKIP() << "../shared/data/detector/" << (name) << " is absent";                                \
    }
// NOLINTEND(bugprone-macro-parentheses)
