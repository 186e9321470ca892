// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values from the text files of Linux' /proc. Header-only, since the recorder, a separate library, includes
// it too.

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace spng {

/// Return the value of the first line "name : value" of a file, without leading blanks; "" if there is none.
inline std::string proc_value(const char* path, const std::string& name) {
    constexpr const char* blanks = " \t";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        const std::string before = line.substr(0, colon);
        if (colon != std::string::npos && before.substr(0, before.find_last_not_of(blanks) + 1) == name) {
            const auto begin = line.find_first_not_of(blanks, colon + 1);
            return begin == std::string::npos ? "" : line.substr(begin);
        }
    }
    return "";
}

/// Return the bytes of a line "name: 123 kB"; -1 if there is none.
inline std::int64_t proc_bytes(const char* path, const std::string& name) {
    std::istringstream value(proc_value(path, name));
    std::int64_t kilobytes = 0;
    return value >> kilobytes ? kilobytes * 1024 : -1;
}

/// Return the start time of this process in the kernel's ticks since boot (field 22 of its stat line); "" if
/// /proc does not have it.
inline std::string process_start_ticks() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    // The second field is the program's name in parentheses; the name may contain blanks and parentheses.
    const auto name_ends = text.rfind(')');
    std::istringstream fields(name_ends == std::string::npos ? "" : text.substr(name_ends + 1));
    std::string field;
    for (int index = 3; index <= 22; ++index) {
        if (!(fields >> field)) {
            return "";
        }
    }
    return field;
}

} // namespace spng
