#pragma once

#include <filesystem>
#include <string>

struct SpngRecorder;

namespace spng::instrument {

/// libSpngRecorder.so beside the library that this is in.
std::filesystem::path recorder_path();

/// Whether a path names that file, also by a link.
bool is_recorder(const std::string& path);

struct LoadedRecorder {
    const SpngRecorder* functions = nullptr; ///< null when it does not load
    std::string problem;                     ///< why
};

/// Load it into the process; later calls return the same.
LoadedRecorder load_recorder();

} // namespace spng::instrument
