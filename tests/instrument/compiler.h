// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compiles small programs while tests run: the traces of a macro in an object file, and the calls that
// a tool gets from a process, can only be tested from outside.

#include "spng/build_info.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace compiler {

namespace fs = std::filesystem;

inline fs::path checkout() {
    for (const fs::path& start : {fs::read_symlink("/proc/self/exe"), fs::current_path() / "file"}) {
        for (fs::path folder = start.parent_path(); folder.has_relative_path();
             folder = folder.parent_path()) {
            if (fs::exists(folder / "spng/include/WireCellSpng/TorchnvTools.h")) {
                return folder;
            }
        }
    }
    return {};
}

struct Outcome {
    int status = -1;    ///< of the shell
    std::string output; ///< both streams
};

inline Outcome run(const std::string& command) {
    Outcome outcome;
    std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
    std::array<char, 4096> block{};
    while (const std::size_t size = std::fread(block.data(), 1, block.size(), pipe)) {
        outcome.output.append(block.data(), size);
    }
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

/// One word for the shell: a checkout's path may hold spaces.
inline std::string quoted(const fs::path& path) {
    return "'" + path.string() + "'";
}

/// The compiler with C++20 and this project's headers; empty when there is no compiler or no checkout.
inline std::string command() {
    const char* const named = std::getenv("CXX");
    const std::string program = named != nullptr && *named != '\0' ? named : "g++";
    if (checkout().empty() || run(program + " --version").status != 0) {
        return {};
    }
    const fs::path root = checkout();
    return program + " -std=c++20 -O2 -g0 -fPIC -Wall -Wextra -Wshadow -Werror -I" + quoted(root) + " -I" +
           quoted(root / "spng/include");
}

/// The options that switch NVTX on; empty when its headers are not there.
inline std::string nvtx_options() {
    const fs::path include = spng::generated::cuda_include;
    return fs::exists(include / "nvtx3/nvtx3.hpp") ? " -DSPNG_NVTX=1 -isystem " + quoted(include) : "";
}

/// Temporary folder of this process, removed at the end of its scope.
class Folder {
public:
    explicit Folder(const std::string& name = "compiled")
        : m_path(fs::temp_directory_path() / ("spng_" + name + "_" + std::to_string(getpid()))) {
        fs::create_directories(m_path);
    }
    ~Folder() { fs::remove_all(m_path); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    std::string file(const std::string& name) const { return (m_path / name).string(); }
    std::string write(const std::string& name, const std::string& content) const {
        std::ofstream(m_path / name) << content;
        return file(name);
    }

private:
    fs::path m_path;
};

/// Compile the NVTX tool of these tests (nvtx_listener.cxx), once in a process.
/// @return the path of the library; empty without a compiler, a checkout or NVTX headers
inline const std::string& listener() {
    static const Folder folder("listener");
    static const std::string library = [] {
        const std::string compile = command(), nvtx = nvtx_options(), path = folder.file("listener.so");
        const std::string source = quoted(checkout() / "tests/instrument/nvtx_listener.cxx");
        if (compile.empty() || nvtx.empty()) {
            return std::string();
        }
        const Outcome outcome = run(compile + nvtx + " -shared " + source + " -o " + path);
        if (outcome.status != 0) {
            throw std::runtime_error("the listener does not compile: " + outcome.output);
        }
        return path;
    }();
    return library;
}

} // namespace compiler
