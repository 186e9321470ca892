// SPDX-License-Identifier: Apache-2.0
#include "spng/io/data_file.h"

#include "spng/core/error.h"
#include "spng/core/files/sha256.h"
#include "spng/core/log/log.h"
#include "spng/io/data_path.h"

#include <array>
#include <fstream>
#include <optional>
#include <span>

namespace spng {
namespace {

namespace fs = std::filesystem;

/// Return the checksum of a file from a list as sha256sum writes it; nothing if the list has no such file.
std::optional<std::string> listed_checksum(std::ifstream& list, const std::string& name) {
    constexpr std::size_t digits = 64;
    for (std::string line; std::getline(list, line);) {
        // "<digits>  name"; sha256sum --binary writes "*" instead of the second blank
        if (line.size() > digits + 2 && line.compare(digits + 2, std::string::npos, name) == 0) {
            return line.substr(0, digits);
        }
    }
    return std::nullopt;
}

} // namespace

void require_as_shipped(const DataFile& file, const fs::path& folder) {
    std::error_code problem;
    if (folder.empty() || !fs::equivalent(file.path.parent_path(), folder, problem)) {
        return;
    }
    std::ifstream list(folder / checksum_list);
    if (!list) {
        log::warn("data", (folder / checksum_list).string() + " is missing: shipped files are not checked");
        return;
    }
    const auto expected = listed_checksum(list, file.path.filename().string());
    if (expected && *expected != file.sha256) {
        throw Error(ErrorKind::Configuration,
                    {.what = "a shipped data file is damaged or was replaced",
                     .where = file.path.string(),
                     .seen = "SHA-256 " + file.sha256 + ", " + std::to_string(file.bytes) + " bytes",
                     .expected = "SHA-256 " + *expected + " (" + (folder / checksum_list).string() + ")",
                     .hint =
                         "install the original again; give a file of your own another name or folder, and "
                         "name it in the job"});
    }
}

DataFile identify_data_file(const std::string& role, const fs::path& path) {
    DataFile file{.role = role, .path = fs::absolute(path), .sha256 = {}, .metadata = {}};
    std::error_code problem;
    if (!fs::is_regular_file(path, problem)) {
        return file;
    }
    std::ifstream stream(path, std::ios::binary);
    Sha256 checksum;
    std::array<char, 1 << 16> block;
    do {
        stream.read(block.data(), block.size());
        const auto count = static_cast<std::size_t>(stream.gcount());
        checksum.add(std::span(reinterpret_cast<const std::uint8_t*>(block.data()), count));
        file.bytes += count;
    } while (stream);
    if (!stream.eof()) {
        throw Error(ErrorKind::Configuration, {.what = "a data file cannot be read",
                                               .where = path.string(),
                                               .seen = std::to_string(file.bytes) + " bytes, then an error",
                                               .expected = "a file that is readable to its end",
                                               .hint = "check its permissions, or copy it again"});
    }
    file.sha256 = checksum.digits();
    require_as_shipped(file, own_folder("data"));
    return file;
}

Notes notes_of(const DataFile& file) {
    Notes notes{{file.role, file.path.filename().string()}};
    if (!file.sha256.empty()) {
        notes[file.role + "_sha256"] = file.sha256;
    }
    if (!file.metadata.empty()) {
        notes[file.role + "_metadata"] = file.metadata;
    }
    return notes;
}

nlohmann::json json_of(const DataFile& file) {
    nlohmann::json json{
        {"role", file.role}, {"path", file.path.string()}, {"bytes", file.bytes}, {"sha256", file.sha256}};
    if (!file.metadata.empty()) {
        json["metadata"] = nlohmann::json::parse(file.metadata);
    }
    return json;
}

} // namespace spng
