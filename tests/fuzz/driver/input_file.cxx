// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver/input_file.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace spng::fuzz {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() : m_owner(::getpid()) {
    const fs::path memory = "/dev/shm";
    const fs::path parent = ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
    std::string name = parent / "spng-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        throw std::runtime_error("cannot create a folder in " + parent.string());
    }
    m_path = name;
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    if (m_owner == ::getpid()) {
        fs::remove_all(m_path, ignored);
    }
}

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path.string());
    }
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const fs::path& path, const std::string& bytes) {
    std::ofstream out(path, std::ios::binary);
    out << bytes;
    out.close();
    if (!out) {
        throw std::runtime_error("cannot write " + path.string());
    }
}

PipeFile::PipeFile(const std::string& bytes) {
    int ends[2] = {-1, -1};
    if (bytes.size() > max_bytes || ::pipe(ends) != 0 ||
        ::write(ends[1], bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
        throw std::runtime_error("cannot fill a pipe");
    }
    ::close(ends[1]);
    m_descriptor = ends[0];
}

PipeFile::~PipeFile() {
    ::close(m_descriptor);
}

} // namespace spng::fuzz
