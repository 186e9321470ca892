// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

struct SpngRecorder;

namespace spng::instrument {

/// Return the path of libSpngRecorder.so, beside this library.
std::filesystem::path recorder_path();

/// Whether a path is that file or a link to it.
bool is_recorder(const std::string& path);

struct LoadedRecorder {
    const SpngRecorder* functions = nullptr; ///< null if the library does not load
    std::string problem;                     ///< reason if it does not load
};

/// Load the recorder into the process. Later calls return the same result.
LoadedRecorder load_recorder();

} // namespace spng::instrument
