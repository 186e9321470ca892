#include "spng/instrument/recorder_library.h"

#include "profiling/recorder/recorder_abi.h"

#include <dlfcn.h>

namespace spng::instrument {

std::filesystem::path recorder_path() {
    Dl_info here{};
    const bool found = dladdr(reinterpret_cast<void*>(&recorder_path), &here) != 0;
    std::error_code ignored;
    const auto library = std::filesystem::canonical(found ? here.dli_fname : "", ignored);
    return library.parent_path() / "libSpngRecorder.so";
}

bool is_recorder(const std::string& path) {
    std::error_code problem;
    return std::filesystem::equivalent(path, recorder_path(), problem) && !problem;
}

LoadedRecorder load_recorder() {
    void* const library = dlopen(recorder_path().c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* const reason = dlerror();
        return {nullptr, reason == nullptr ? "unknown reason" : reason};
    }
    const auto get = reinterpret_cast<SpngRecorderGet>(dlsym(library, "spng_recorder"));
    const SpngRecorder* const functions = get == nullptr ? nullptr : get(SPNG_RECORDER_VERSION);
    return {functions, functions == nullptr ? recorder_path().string() + " is of another version" : ""};
}

} // namespace spng::instrument
