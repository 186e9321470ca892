// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/recorder_library.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/core/shared_library.h"

namespace spng::instrument {

std::filesystem::path recorder_path() {
    std::error_code ignored;
    const auto library = std::filesystem::canonical(SharedLibrary::file_of(&recorder_path), ignored);
    return library.parent_path() / "libSpngRecorder.so";
}

bool is_recorder(const std::string& path) {
    std::error_code problem;
    return std::filesystem::equivalent(path, recorder_path(), problem) && !problem;
}

LoadedRecorder load_recorder() {
    const SharedLibrary library(recorder_path());
    if (!library.is_open()) {
        return {nullptr, library.problem()};
    }
    const auto get = library.find<SpngRecorderGet>("spng_recorder");
    const SpngRecorder* const functions = get == nullptr ? nullptr : get(SPNG_RECORDER_VERSION);
    return {functions, functions == nullptr ? recorder_path().string() + " is of another version" : ""};
}

} // namespace spng::instrument
