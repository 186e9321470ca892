// SPDX-License-Identifier: Apache-2.0
#include "spng/io/output_kind.h"

#include "spng/core/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <string_view>

namespace spng {
namespace {

constexpr std::size_t looked_at = 1024;
constexpr std::size_t zip_name = 30, tar_magic = 257,
                      tar_name_length = 100; // offsets and lengths of the formats

std::string beginning(const std::filesystem::path& path) {
    std::string bytes(looked_at, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    return bytes;
}

/// Tell whether a member is one of ours: <name>_<ident>.npy. NumPy calls those without a name arr_0.npy.
bool is_array_of_event(std::string_view name) {
    constexpr std::string_view ending = ".npy", nameless = "arr_";
    if (!name.ends_with(ending) || name.starts_with(nameless)) {
        return false;
    }
    name.remove_suffix(ending.size());
    const auto bar = name.rfind('_');
    return bar != std::string_view::npos && bar > 0 && bar + 1 < name.size() &&
           std::all_of(name.begin() + static_cast<std::ptrdiff_t>(bar) + 1, name.end(),
                       [](unsigned char letter) { return std::isdigit(letter) != 0 || letter == '-'; });
}

/// Kinds of archives that are recognised, with what their first member tells.
bool is_archive_of_arrays(std::string_view bytes, const std::filesystem::path& path) {
    if (bytes.starts_with("PK\3\4") && bytes.size() > zip_name) {
        const auto length =
            static_cast<unsigned char>(bytes[26]) + 256U * static_cast<unsigned char>(bytes[27]);
        return is_array_of_event(bytes.substr(zip_name, length));
    }
    if (bytes.size() > tar_magic + 5 && bytes.substr(tar_magic, 5) == "ustar") {
        const auto name = bytes.substr(0, tar_name_length);
        return is_array_of_event(name.substr(0, name.find('\0')));
    }
    const std::string ending = path.extension().string(); // what is inside is not looked at
    return bytes.starts_with("PK\5\6") ||
           (bytes.starts_with("\x1f\x8b") && (ending == ".gz" || ending == ".tgz")) ||
           (bytes.starts_with("BZh") && ending == ".bz2");
}

bool is_of_kind(OutputKind kind, std::string_view bytes, const std::filesystem::path& path) {
    const auto first = bytes.find_first_not_of(" \t\r\n");
    const std::string_view text = first == std::string_view::npos ? "" : bytes.substr(first);
    switch (kind) {
    case OutputKind::arrays:
        return is_archive_of_arrays(bytes, path);
    case OutputKind::json:
        return text.starts_with("{") || text.starts_with("[");
    case OutputKind::pickle:
        return bytes.starts_with("\x80");
    case OutputKind::graph:
        return text.starts_with("digraph");
    case OutputKind::log: // "[07:12:29.359] W ..."
        return text.size() > 3 && text[0] == '[' && text[3] == ':';
    case OutputKind::recording:
        return true;
    }
    return false;
}

std::string_view name_of(OutputKind kind) {
    constexpr std::array names{"an archive of events (<name>_<ident>.npy)",
                               "a JSON file",
                               "a pickle",
                               "a graph for Graphviz",
                               "a log of wire-cell",
                               "a recording"};
    return names[static_cast<std::size_t>(kind)];
}

std::string seen_in(std::string_view bytes) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 6> beginnings{
        {{"PK", "a zip archive of other members"},
         {"SQLite format 3", "an SQLite database"},
         {"\x89HDF", "an HDF5 file"},
         {"\x7f"
          "ELF",
          "a program or library"},
         {"%PDF", "a PDF document"},
         {"#!", "a script"}}};
    for (const auto& [magic, kind] : beginnings) {
        if (bytes.starts_with(magic)) {
            return std::string(kind);
        }
    }
    const bool is_text = std::all_of(bytes.begin(), bytes.end(), [](unsigned char letter) {
        return letter >= 0x20 || letter == '\n' || letter == '\t' || letter == '\r';
    });
    return is_text ? "a text file" : "a file of another kind";
}

} // namespace

void require_own_kind(const std::filesystem::path& path, OutputKind kind, const std::string& user) {
    std::error_code problem;
    if (!std::filesystem::is_regular_file(path, problem)) {
        return;
    }
    const std::string bytes = beginning(path);
    if (bytes.empty() ||
        is_of_kind(kind, bytes, path)) { // an unreadable file is for its folder's permissions
        return;
    }
    throw Error(ErrorKind::Output, {.what = "an output would replace a file of another kind",
                                    .where = user,
                                    .seen = path.string() + ": " + seen_in(bytes),
                                    .expected = "no file, or " + std::string(name_of(kind)),
                                    .hint = "choose another name, or give --overwrite"});
}

} // namespace spng
