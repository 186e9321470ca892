// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/foreign_file.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>

namespace spng {
namespace {

constexpr std::size_t examined_bytes = 512;
constexpr const char* to_script =
    "export the network with torch.jit.script or torch.jit.trace, and write that with its save()";

std::string beginning_of(const std::filesystem::path& file) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(file, problem)) { // a pipe can be read only once
        return {};
    }
    std::array<char, examined_bytes> bytes{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(bytes.data(), bytes.size());
    return {bytes.data(), static_cast<std::size_t>(stream.gcount())};
}

bool is_web_page(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    std::string word(begin == std::string_view::npos ? "" : text.substr(begin, 9));
    for (char& letter : word) {
        letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
    return word.starts_with("<html") || word.starts_with("<!doctype") || word.starts_with("<?xml");
}

/// torch.save writes a zip whose first member is NAME/data.pkl; torch.jit.save writes NAME/constants.pkl, too, and code.
/// Before LibTorch 1.6 it wrote pickles of protocol 2.
bool is_checkpoint(const std::filesystem::path& file, std::string_view begin) {
    if (begin.starts_with(std::string_view("\x80\x02", 2))) {
        return true;
    }
    if (!begin.starts_with("PK\x03\x04") || begin.find("/data.pkl") == std::string_view::npos) {
        return false;
    }
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    constexpr std::streamoff directory_bytes = 1 << 22;
    stream.seekg(std::max<std::streamoff>(0, stream.tellg() - std::streampos(directory_bytes)));
    const std::string end{std::istreambuf_iterator<char>(stream), {}};
    const bool is_whole =
        end.find("PK\x05\x06") != std::string::npos; // else it may be TorchScript, cut short
    return is_whole && end.find("/constants.pkl") == std::string::npos;
}

} // namespace

std::optional<ForeignFile> foreign_file(const std::filesystem::path& file) {
    const std::string begin = beginning_of(file);
    if (begin.starts_with("version https://git-lfs.github.com/spec/")) {
        return ForeignFile{"a Git LFS pointer, not the file itself", "get the file with git lfs pull"};
    }
    if (is_web_page(begin)) {
        return ForeignFile{"a web page", "download the file itself, not the page about it"};
    }
    if (begin.starts_with("\x89HDF\r\n")) {
        return ForeignFile{"an HDF5 file",
                           "convert frames with wirecell-frame convert, and export networks to TorchScript"};
    }
    if (begin.starts_with("\x08") && begin.substr(0, 64).find("\x12") == 2) {
        return ForeignFile{"an ONNX file", to_script};
    }
    if (is_checkpoint(file, begin)) {
        return ForeignFile{"a checkpoint of torch.save, such as a state_dict, which has weights but no code",
                           to_script};
    }
    return std::nullopt;
}

} // namespace spng
