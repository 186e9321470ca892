// SPDX-License-Identifier: Apache-2.0
#include "spng/io/json_file.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/core/unit_text.h"
#include "spng/io/archive/content_stream.h"
#include "spng/io/archive/foreign_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>

namespace spng {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what, const std::string& seen,
                       const std::string& expected, const std::string& hint) {
    throw Error(ErrorKind::Configuration,
                {.what = what, .where = path, .seen = seen, .expected = expected, .hint = hint});
}

[[noreturn]] void fail_unreadable(const std::string& path, const std::string& seen) {
    fail(path, "a data file cannot be read", seen, "a whole plain or compressed file",
         "fetch the file again, or check its permissions");
}

/// A few times the largest known file, the wires of a detector with 400,000 of them. Parsed, it takes up to ten
/// times this size.
constexpr std::int64_t max_data_bytes = 200'000'000;

/// Return a value as short text.
std::string shown(const nlohmann::json& value) {
    return value.is_structured() ? value.type_name() : json_text(value);
}

[[noreturn]] void wrong_member(const char* key, const JsonLocation& location, const std::string& seen,
                               const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = "the file does not have the expected content",
                                           .where = location.text() + ", key \"" + key + "\"",
                                           .seen = seen,
                                           .expected = expected});
}

std::string unpacked(const std::string& path) {
    const auto content = content_stream(std::make_shared<FileStream>(path), path);
    std::string bytes;
    for (auto block = content->next_block(); !block.empty(); block = content->next_block()) {
        bytes.append(block.begin(), block.end());
        if (static_cast<std::int64_t>(bytes.size()) > max_data_bytes) {
            fail(path, "a data file is too large", "more than " + format_bytes(max_data_bytes) + " unpacked",
                 "wires, responses or spectra of a detector; " + format_bytes(max_data_bytes) + " at most",
                 "check that it is the right file");
        }
    }
    return bytes;
}

} // namespace

std::string read_compressed_file(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        fail(path, "a data file is missing", "no such file", "a readable file",
             "check the name and the path");
    }
    if (std::filesystem::is_directory(path, ignored)) {
        fail(path, "a data file is missing", "a folder", "a readable file", "check the name and the path");
    }
    if (std::filesystem::file_size(path, ignored) == 0) {
        fail(path, "a data file is empty", "0 bytes", "a JSON document", "fetch the file again");
    }
    try {
        return unpacked(path);
    } catch (const Error& error) { // a stream reports Error(Input), as for event files
        fail_unreadable(path, error.text().seen);
    }
}

std::string position_text(const std::string& text, std::size_t offset) {
    offset = std::min(offset, text.size());
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto line = 1 + std::count(text.begin(), end, '\n');
    const auto newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
    const auto column = newline == std::string::npos ? offset : offset - newline - 1;
    return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

std::size_t find_deep_nesting(const std::string& text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        switch (text[i]) {
        case '"':
            for (++i; i < text.size() && text[i] != '"'; ++i) {
                i += text[i] == '\\' ? 1 : 0;
            }
            break;
        case '(':
        case '[':
        case '{':
            if (++depth > max_nesting) {
                return i;
            }
            break;
        case ')':
        case ']':
        case '}':
            --depth;
            break;
        default:
            break;
        }
    }
    return std::string::npos;
}

nlohmann::json parsed_json(const std::string& text) {
    const bool is_readable =
        text.find('\0') == std::string::npos && find_deep_nesting(text) == std::string::npos;
    return is_readable ? nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false)
                       : nlohmann::json(nlohmann::json::value_t::discarded);
}

nlohmann::json load_json_file(const std::string& path) {
    const std::string text = read_compressed_file(path);
    if (const auto offset = find_deep_nesting(text); offset != std::string::npos) {
        fail(path + ", " + position_text(text, offset + 1), "a data file nests too deeply",
             "more than " + std::to_string(max_nesting) + " levels of brackets",
             "at most " + std::to_string(max_nesting),
             "fetch the file again, or correct it at this position");
    }
    if (const auto offset = text.find('\0'); offset != std::string::npos) { // the parser takes it for the end
        fail(path + ", " + position_text(text, offset), "a data file is not JSON", "a byte 0", "text",
             "fetch the file again");
    }
    try {
        return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: the useful part"
        std::string reason = error.what();
        if (const auto colon = reason.find(": "); colon != std::string::npos) {
            reason.erase(0, colon + 2);
        }
        const auto other = foreign_file(path);
        fail(path + ", " + position_text(text, error.byte), "a data file is not JSON",
             other ? other->kind : reason, "one JSON document",
             other ? other->hint : "fetch the file again, or correct it at this position");
    } catch (const nlohmann::json::exception& error) {
        fail(path, "a data file is not JSON", error.what(), "numbers within double precision", {});
    }
}

std::string JsonLocation::text() const {
    std::string result(file);
    if (!list.empty()) {
        result += ", " + std::string(list) + "[" + std::to_string(index) + "]";
    }
    return result;
}

const nlohmann::json& json_member(const nlohmann::json& object, const char* key,
                                  const JsonLocation& location) {
    if (!object.is_object()) {
        wrong_member(key, location, object.type_name(), "an object with this key");
    }
    const auto found = object.find(key);
    if (found == object.end()) {
        wrong_member(key, location, "key missing", "an object with this key");
    }
    return *found;
}

const nlohmann::json& json_list(const nlohmann::json& object, const char* key, const JsonLocation& location) {
    const auto& value = json_member(object, key, location);
    if (!value.is_array()) {
        wrong_member(key, location, value.type_name(), "a list");
    }
    return value;
}

double json_number(const nlohmann::json& object, const char* key, const JsonLocation& location) {
    const auto& value = json_member(object, key, location);
    if (!value.is_number()) {
        wrong_member(key, location, value.type_name(), "a number");
    }
    return value.get<double>();
}

int json_integer(const nlohmann::json& object, const char* key, const JsonLocation& location) {
    const auto& value = json_member(object, key, location);
    const bool fits = value.is_number_integer() && value.get<double>() >= std::numeric_limits<int>::min() &&
                      value.get<double>() <= std::numeric_limits<int>::max();
    if (!fits) {
        wrong_member(key, location, shown(value), "a 32-bit integer");
    }
    return value.get<int>();
}

std::string PlausibleRange::text() const {
    char text[96];
    std::snprintf(text, sizeof text, "%.6g to %.6g %s", low, high, unit);
    return text;
}

double json_number(const nlohmann::json& object, const char* key, const JsonLocation& location,
                   const PlausibleRange& range) {
    const double value = json_number(object, key, location);
    if (!range.contains(value)) {
        fail(location.text() + ", key \"" + key + "\"", "a value is beyond what any detector has",
             shown(object[key]), range.text(), "fetch the file again, or convert its units");
    }
    return value;
}

std::size_t json_index(const nlohmann::json& value, std::size_t size, const char* what,
                       const JsonLocation& location) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= size) {
        wrong_member(what, location, shown(value), "an index below " + std::to_string(size));
    }
    return value.get<std::size_t>();
}

} // namespace spng
