#pragma once
// Static inputs (wires, field responses, noise spectra) are JSON files, usually compressed. Reading them is
// part of every start-up, and their authors are many, so reading is fast and every error_response names the place.

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace spng {

/// The decompressed bytes of a file: plain, .gz, .bz2, .xz or .zst, recognised by content and not by name.
/// Throws Error(Configuration) when the file is missing, unreadable, truncated or corrupt.
std::string read_compressed_file(const std::string& path);

/// Levels of brackets that a configuration or data file may have: real ones have about ten, and a document
/// that nests deeper would overflow the stack where it is copied or written.
inline constexpr int max_nesting = 500;

/// Return the offset of the first bracket beyond max_nesting, std::string::npos if there is none. Brackets in
/// "strings" do not count.
std::size_t find_deep_nesting(const std::string& text);

/// Return "line 3, column 7", both counted from 1, of a byte offset.
std::string position_text(const std::string& text, std::size_t offset);

/// One JSON document from a plain or compressed file.
/// Throws Error(Configuration) as read_compressed_file does, and with line and column when it is not JSON or
/// nests too deeply.
nlohmann::json load_json_file(const std::string& path);

/// Where in a JSON document a value is, turned into words only when something is wrong with it.
/// The views must outlive the place.
struct JsonPlace {
    std::string_view file;
    std::string_view list = {}; ///< name of the list that holds the object; empty: the document's top
    std::size_t index = 0;      ///< position of the object in that list

    std::string text() const;
    JsonPlace at(std::string_view list_name, std::size_t position) const {
        return {file, list_name, position};
    }
};

/// Members of a JSON object. All throw Error(Configuration) naming the place and key when the member is
/// missing or of another type; `json_index` also when the value is not below `size`.
const nlohmann::json& json_member(const nlohmann::json& object, const char* key, const JsonPlace& place);
const nlohmann::json& json_list(const nlohmann::json& object, const char* key, const JsonPlace& place);
double json_number(const nlohmann::json& object, const char* key, const JsonPlace& place);
int json_integer(const nlohmann::json& object, const char* key, const JsonPlace& place);
std::size_t json_index(const nlohmann::json& value, std::size_t size, const char* what,
                       const JsonPlace& place);

} // namespace spng
