// SPDX-License-Identifier: Apache-2.0
#pragma once
// Paths of the repository and of the shared data, and temporary folders.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

namespace spng::test {

/// Return the root of the source tree: the define SPNG_SOURCE_DIR of the build, otherwise derived from the
/// path of this file.
inline std::filesystem::path repo_root() {
#ifdef SPNG_SOURCE_DIR
    return SPNG_SOURCE_DIR;
#else
    return std::filesystem::absolute(__FILE__).lexically_normal().parent_path().parent_path().parent_path();
#endif
}

/// Return the folder of shared data: the environment variable SPNG_SHARED, otherwise the nearest folder
/// `shared` that holds a folder `data`, beside the source tree, the current folder, or a parent of them.
/// Nothing if there is none: skip the test.
inline std::optional<std::filesystem::path> shared_folder() {
    if (const char* given = std::getenv("SPNG_SHARED"); given != nullptr) {
        return std::filesystem::is_directory(given) ? std::optional<std::filesystem::path>(given)
                                                    : std::nullopt;
    }
    for (std::filesystem::path folder : {repo_root(), std::filesystem::current_path()}) {
        for (; folder.has_relative_path(); folder = folder.parent_path()) {
            const auto shared = folder.parent_path() / "shared";
            if (std::filesystem::is_directory(shared / "data")) {
                return shared;
            }
        }
    }
    return std::nullopt;
}

/// Return the path of a shared data file, for example "pdhd/tracks10-adc.npz". Nothing if it is absent: skip
/// the test.
inline std::optional<std::filesystem::path> shared_data(const std::string& name) {
    const auto shared = shared_folder();
    if (!shared || !std::filesystem::exists(*shared / "data" / name)) {
        return std::nullopt;
    }
    return *shared / "data" / name;
}

/// Create an empty folder with this name. It is removed when the test program ends.
inline std::filesystem::path temporary_folder(const std::string& name) {
    struct Root {
        std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("spng-tests-" + std::to_string(::getpid()));
        pid_t owner = ::getpid();
        ~Root() {
            std::error_code ignored;
            if (owner == ::getpid()) { // not in a forked child process
                std::filesystem::remove_all(path, ignored);
            }
        }
    };
    static const Root root;
    const auto folder = root.path / name;
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder;
}

} // namespace spng::test
