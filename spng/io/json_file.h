// SPDX-License-Identifier: Apache-2.0
#pragma once
// Read static inputs (wires, field responses, noise spectra): JSON files, usually compressed. Every start-up
// reads them, so reading is fast. They come from many authors, so every error names the location.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace spng {

/// Return the decompressed bytes of a file: plain, .gz, .bz2, .xz or .zst, recognised by content and not by
/// name.
/// @throws Error(Configuration) if the file is missing, unreadable, truncated or corrupt
std::string read_compressed_file(const std::string& path);

/// Maximum depth of brackets in a configuration or data file. Real files have about ten levels; copying or
/// writing a document that nests much deeper overflows the stack.
inline constexpr int max_nesting = 500;

/// Return the offset of the first bracket beyond max_nesting; std::string::npos if there is none. Brackets
/// inside strings do not count.
std::size_t find_deep_nesting(const std::string& text);

/// Return the value of a JSON text; a discarded one for any other text, for one that nests too deeply, and for one with a NUL,
/// which the parser takes for the end.
nlohmann::json parsed_json(const std::string& text);

/// Return "line 3, column 7", both counted from 1, of a byte offset.
std::string position_text(const std::string& text, std::size_t offset);

/// Read one JSON document from a plain or compressed file.
/// @throws Error(Configuration) as read_compressed_file(), and with line and column if the content is not
/// JSON or nests too deeply
nlohmann::json load_json_file(const std::string& path);

/// Location of a value in a JSON document. Composes its text only for an error. The viewed strings must
/// outlive the location.
struct JsonLocation {
    std::string_view file;
    std::string_view list = {}; ///< name of the list with the object; empty for the top of the document
    std::size_t index = 0;      ///< index of the object in that list

    std::string text() const;
    JsonLocation at(std::string_view list_name, std::size_t position) const {
        return {file, list_name, position};
    }
};

/// Return a member of a JSON object. All throw Error(Configuration) naming location and key if the member is
/// missing or has another type; `json_index` also if the value is not below `size`.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key,
                                  const JsonLocation& location);
const nlohmann::json& json_list(const nlohmann::json& object, const char* key, const JsonLocation& location);
double json_number(const nlohmann::json& object, const char* key, const JsonLocation& location);
int json_integer(const nlohmann::json& object, const char* key, const JsonLocation& location);
std::size_t json_index(const nlohmann::json& value, std::size_t size, const char* what,
                       const JsonLocation& location);

/// Values that a quantity can have in any detector. A value beyond is a damaged file or another unit, and sizes
/// of arrays follow from some of them.
struct PlausibleRange {
    double low;
    double high;
    const char* unit;

    bool contains(double value) const { return value >= low && value <= high; }
    std::string text() const; ///< "0.1 to 1000 mm"
};

/// Return a number within a range.
/// @throws Error(Configuration) naming location, key and range for any other value
double json_number(const nlohmann::json& object, const char* key, const JsonLocation& location,
                   const PlausibleRange& range);

} // namespace spng
