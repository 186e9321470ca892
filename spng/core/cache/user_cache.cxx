// SPDX-License-Identifier: Apache-2.0
#include "spng/core/cache/user_cache.h"

#include "spng/core/error.h"
#include "spng/core/files/partial_file.h"
#include "spng/core/log/log.h"
#include "spng/core/shared_library.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

namespace spng {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_entries = 64; // of a kind

/// Return the folder of the cache; empty without one.
fs::path cache_folder() {
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value == nullptr ? "" : value);
    };
    if (const std::string own = variable("SPNG_CACHE"); !own.empty()) {
        return own == "off" ? fs::path{} : fs::path(own);
    }
    if (const std::string common = variable("XDG_CACHE_HOME"); !common.empty()) {
        return fs::path(common) / "spng";
    }
    const std::string home = variable("HOME");
    return home.empty() ? fs::path{} : fs::path(home) / ".cache" / "spng";
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Return what tells this build of the program from others: size and time of its file.
std::string build_text() {
    const fs::path file = SharedLibrary::file_of(&find_in_cache);
    std::error_code problem;
    const auto bytes = fs::file_size(file, problem);
    const auto time = fs::last_write_time(file, problem).time_since_epoch().count();
    return std::to_string(problem ? 0 : bytes) + ' ' + std::to_string(problem ? 0 : time);
}

/// Return the beginning of an entry: format, build, kind, key, and length and CRC-32 of the content.
std::string head_of(const std::string& kind, const std::string& key, std::string_view content) {
    std::ostringstream head;
    static const std::string build = build_text();
    head << "spng-cache-1 " << build << ' ' << kind << ' ' << key << ' ' << content.size() << ' '
         << crc32_z(0, bytes_of(content).data(), content.size()) << '\n';
    return head.str();
}

void remove_old_entries(const fs::path& folder, const std::string& kind) {
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.rfind(kind + "-", 0) == 0 && entry.is_regular_file()) {
            entries.emplace_back(entry.last_write_time(), entry.path());
        }
    }
    if (entries.size() <= max_entries) {
        return;
    }
    std::sort(entries.begin(), entries.end());
    for (std::size_t i = 0; i < entries.size() - max_entries; ++i) {
        std::error_code problem;
        fs::remove(entries[i].second, problem);
    }
}

} // namespace

std::optional<std::string> find_in_cache(const std::string& kind, const std::string& key) {
    const fs::path folder = cache_folder();
    if (folder.empty()) {
        return std::nullopt;
    }
    const fs::path file = folder / (kind + "-" + key);
    std::error_code problem;
    if (!fs::is_regular_file(file, problem)) {
        return std::nullopt;
    }
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream read;
    read << stream.rdbuf();
    std::string text = std::move(read).str();
    const auto end = text.find('\n');
    const std::string_view content = end == std::string::npos ? "" : std::string_view(text).substr(end + 1);
    if (end == std::string::npos ||
        std::string_view(text).substr(0, end + 1) != head_of(kind, key, content)) {
        log::debug("cache", [&] { return file.string() + " is damaged or of another version: not used"; });
        return std::nullopt;
    }
    text.erase(0, end + 1);
    return text;
}

void keep_in_cache(const std::string& kind, const std::string& key, std::string_view content) {
    const fs::path folder = cache_folder();
    if (folder.empty()) {
        return;
    }
    const fs::path file = folder / (kind + "-" + key);
    try {
        fs::create_directories(folder);
        PartialFile output(file);
        output.write(bytes_of(head_of(kind, key, content)));
        output.write(bytes_of(content));
        output.commit();
        remove_old_entries(folder, kind);
    } catch (const std::exception& error) {
        const std::string reason = error.what();
        log::debug("cache", [&] { return file.string() + " cannot be written: " + reason; });
    }
}

} // namespace spng
