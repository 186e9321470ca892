#pragma once
// Where tests find the repository and the shared data, and where they may write.

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

namespace spng::test {

/// Root of the source tree: the define SPNG_SOURCE_DIR when the build gives it, else found from this file's
/// path.
inline std::filesystem::path repo_root() {
#ifdef SPNG_SOURCE_DIR
    return SPNG_SOURCE_DIR;
#else
    return std::filesystem::absolute(__FILE__).lexically_normal().parent_path().parent_path().parent_path();
#endif
}

/// The folder of shared documents and data: the environment variable SPNG_SHARED, else the nearest folder
/// `shared` with a `data` in it beside the source tree, beside the current folder, or beside a folder above
/// them. Nothing when there is none: skip the test.
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

/// A file of the shared data, such as "pdhd/tracks10-adc.npz"; nothing when it is absent: skip the test.
inline std::optional<std::filesystem::path> shared_data(const std::string& name) {
    const auto shared = shared_folder();
    if (!shared || !std::filesystem::exists(*shared / "data" / name)) {
        return std::nullopt;
    }
    return *shared / "data" / name;
}

/// A fresh, empty folder for this name, removed when the test program ends.
inline std::filesystem::path temporary_folder(const std::string& name) {
    struct Root {
        std::filesystem::path path =
            std::filesystem::temp_directory_path() / ("spng-tests-" + std::to_string(::getpid()));
        pid_t owner = ::getpid();
        ~Root() {
            std::error_code ignored;
            if (owner == ::getpid()) { // not in a child that a test forked
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
