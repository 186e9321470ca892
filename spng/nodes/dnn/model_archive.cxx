// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model_archive.h"

#include "spng/core/error.h"
#include "spng/io/archive/archive_reader.h"
#include "spng/nodes/dnn/model_failure.h"

#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <zlib.h>

namespace spng {
namespace {

struct Content {
    std::uint64_t bytes = 0;
    std::uint32_t crc = 0;
    bool operator==(const Content&) const = default;
};

/// @param crc  CRC-32 of the previous bytes; 0 to begin
std::uint32_t checksum(std::uint32_t crc, std::span<const std::uint8_t> bytes) {
    return static_cast<std::uint32_t>(crc32_z(crc, bytes.data(), bytes.size()));
}

std::string to_string(const Content& content) {
    std::array<char, 16> digits{};
    std::snprintf(digits.data(), digits.size(), "0x%08x", static_cast<unsigned>(content.crc));
    return std::to_string(content.bytes) + " bytes with CRC-32 " + digits.data();
}

[[noreturn]] void reject(const std::filesystem::path& file, const std::string& member,
                         const std::string& seen) {
    throw Error(ErrorKind::Input, {.what = "the directory of the archive is damaged",
                                   .where = file.string() + ", member " + member,
                                   .seen = seen});
}

/// Return the members by their names in LibTorch, without the top folder. The reader checks the CRC-32 of
/// each.
std::map<std::string, Content> checked_members(const std::filesystem::path& file) {
    std::map<std::string, Content> members;
    ArchiveReader reader(file);
    std::array<std::uint8_t, 1 << 16> block;
    while (reader.next_member()) {
        Content content;
        while (const std::size_t count = reader.read(block.data(), block.size())) {
            content.crc = checksum(content.crc, std::span(block).first(count));
            content.bytes += count;
        }
        const std::string& path = reader.member_path();
        if (!members.emplace(path.substr(path.find('/') + 1), content).second) {
            reject(file, path, "two members with this name");
        }
    }
    return members;
}

/// Compare the data that LibTorch reads with the checked members.
void compare_with_loader(const std::filesystem::path& file, std::map<std::string, Content> members) {
    caffe2::serialize::PyTorchStreamReader loader(file.string());
    for (const std::string& name : loader.getAllRecords()) {
        const auto found = members.find(name);
        if (found == members.end()) {
            reject(file, name, "an entry of the archive's directory without a member");
        }
        const auto [data, bytes] = loader.getRecord(name);
        const Content content{bytes,
                              checksum(0, std::span(static_cast<const std::uint8_t*>(data.get()), bytes))};
        if (content != found->second) {
            reject(file, name,
                   "the archive's directory points to " + to_string(content) + " instead of " +
                       to_string(found->second));
        }
        members.erase(found);
    }
    if (!members.empty()) {
        reject(file, members.begin()->first, "a member that is not in the archive's directory");
    }
}

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

/// Return the operator with a file name that TorchScript code names; empty if there is none. A method of the network
/// may not be called so either: the code that is searched need not tell them apart, and comments cannot hide one.
std::string file_operator(std::string_view code) {
    const auto is_letter = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    for (std::size_t begin = 0; begin < code.size(); ++begin) {
        std::size_t end = begin;
        while (end < code.size() && is_letter(code[end])) {
            ++end;
        }
        const std::string_view word = code.substr(begin, end - begin);
        if (word == "from_file" || word == "save") {
            return "aten::" + std::string(word);
        }
        begin = end;
    }
    return {};
}

} // namespace

void require_no_file_access(const std::filesystem::path& file) {
    const auto reject_code = [&](const std::string& member, const std::string& seen) {
        throw Error(ErrorKind::Model, {.what = "the code of a network opens files",
                                       .where = file.string() + ", member " + member,
                                       .seen = seen,
                                       .expected = "a network that computes from its input alone",
                                       .hint = "do not run it; ask its author"});
    };
    caffe2::serialize::PyTorchStreamReader loader(file.string());
    for (const std::string& name : loader.getAllRecords()) {
        const std::string member = lower_case(name); // LibTorch ignores the case
        if (member == "model.json") {
            reject_code(name, "the format of LibTorch before 1.1, whose code is not checked");
        }
        if (!member.starts_with("code/") || !member.ends_with(".py")) {
            continue;
        }
        const auto [data, bytes] = loader.getRecord(name);
        if (const std::string found = file_operator({static_cast<const char*>(data.get()), bytes});
            !found.empty()) {
            reject_code(name, found);
        }
    }
}

std::string torch_script_metadata(const std::filesystem::path& file) {
    if (!std::filesystem::is_regular_file(file)) {
        return {}; // a pipe can be read only once
    }
    try {
        ArchiveReader reader(file);
        while (reader.next_member()) {
            if (reader.member_path().ends_with("/extra/metadata.json")) {
                std::string text;
                std::array<char, 1 << 12> block;
                while (const std::size_t count = reader.read(block.data(), block.size())) {
                    text.append(block.data(), count);
                }
                return text;
            }
        }
    } catch (const Error&) {
        return {};
    }
    return {};
}

void require_whole_archive(const std::filesystem::path& file, const std::string& expected) {
    try {
        compare_with_loader(file, checked_members(file));
    } catch (const Error& damage) {
        throw_load_failure(file, damage.text().where, damage.text().what + ": " + damage.text().seen,
                           expected);
    }
}

} // namespace spng
