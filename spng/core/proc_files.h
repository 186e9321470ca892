#pragma once
// What Linux tells in the text files of /proc. Inline: the recorder's library links nothing of the others.

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace spng {

/// The value of the first line "name : value" of a file, without the blanks before it; "" where there is
/// none.
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

/// The bytes of a line "name: 123 kB"; -1 where there is none.
inline std::int64_t proc_bytes(const char* path, const std::string& name) {
    std::istringstream value(proc_value(path, name));
    std::int64_t kilobytes = 0;
    return value >> kilobytes ? kilobytes * 1024 : -1;
}

/// When this process began, in the kernel's ticks since boot (the 22nd field of its stat line); "" where
/// /proc does not tell.
inline std::string process_start_ticks() {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    // The second field is the program's name in parentheses and may itself hold blanks and parentheses.
    const auto name_ends = text.rfind(')');
    std::istringstream fields(name_ends == std::string::npos ? "" : text.substr(name_ends + 1));
    std::string field;
    for (int number = 3; number <= 22; ++number) {
        if (!(fields >> field)) {
            return "";
        }
    }
    return field;
}

} // namespace spng
