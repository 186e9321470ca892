// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>
#include <string_view>

// Jsonnet cannot list the names of a function's parameters, so this file reads them from the text. It recognises
// comments, strings and brackets, which suffices to find `function(...)` outside of all brackets.

namespace spng {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Return the position after the comment or string that begins at `i`, or `i` if none does.
std::size_t after_comment_or_string(const std::string& text, std::size_t i) {
    const auto end_of = [&](const std::string& end, std::size_t from) {
        const auto found = text.find(end, from);
        return found == std::string::npos ? text.size() : found + end.size();
    };
    if (text[i] == '#' || text.compare(i, 2, "//") == 0) {
        return end_of("\n", i);
    }
    if (text.compare(i, 2, "/*") == 0) {
        return end_of("*/", i + 2);
    }
    if (text.compare(i, 3, "|||") == 0) {
        return end_of("|||", i + 3);
    }
    if (text[i] == '\'' || text[i] == '"') {
        const char quote = text[i];
        const bool verbatim = i > 0 && text[i - 1] == '@';
        std::size_t j = i + 1;
        while (j < text.size() && text[j] != quote) {
            j += text[j] == '\\' && !verbatim ? 2 : 1;
        }
        return std::min(j + 1, text.size());
    }
    return i;
}

int depth_change(char c) {
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/// Return the position of the keyword of the function outside of all brackets and local definitions; npos without one.
std::size_t find_function(const std::string& text) {
    int depth = 0;
    int definitions = 0; // each `local` and `assert` ends with a `;`; functions before it are definitions
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += depth_change(text[i]);
        if (depth != 0) {
            continue;
        }
        const auto begins = [&](std::string_view word) {
            return (i == 0 || !is_word(text[i - 1])) && text.compare(i, word.size(), word) == 0 &&
                   (i + word.size() == text.size() || !is_word(text[i + word.size()]));
        };
        if (begins("local") || begins("assert")) {
            ++definitions;
        } else if (text[i] == ';') {
            --definitions;
        } else if (definitions == 0 && begins("function")) {
            return i;
        }
    }
    return std::string::npos;
}

/// Return the content without comments and strings.
std::string structure_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream content;
    content << stream.rdbuf();
    return jsonnet_structure(content.str());
}

} // namespace

std::string jsonnet_structure(std::string text) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t after = after_comment_or_string(text, i);
        std::replace_if(
            text.begin() + static_cast<std::ptrdiff_t>(i), text.begin() + static_cast<std::ptrdiff_t>(after),
            [](char c) { return c != '\n'; }, ' ');
        i = std::max(after, i + 1);
    }
    return text;
}

bool is_surely_function(const std::filesystem::path& file) {
    if (!std::filesystem::is_regular_file(file)) { // a pipe can be read only once, by the machine
        return false;
    }
    const std::string text = structure_of(file);
    const auto function = find_function(text);
    if (function == std::string::npos) {
        return false;
    }
    const auto last = text.substr(0, function).find_last_not_of(" \t\r\n");
    return last == std::string::npos || text[last] == ';';
}

std::vector<std::string> job_arguments(const std::filesystem::path& file) {
    const std::string text = structure_of(file);
    std::vector<std::string> names;
    std::string name;
    bool at_name = true; // from a comma to the end of the next word
    int depth = 0;
    for (std::size_t i = text.find('(', find_function(text)); i < text.size(); ++i) {
        depth += depth_change(text[i]);
        if (depth == 0) {
            break;
        }
        if (at_name && is_word(text[i])) {
            name += text[i];
        } else if (!name.empty()) {
            names.push_back(name);
            name.clear();
            at_name = false;
        }
        at_name = at_name || (depth == 1 && text[i] == ',');
    }
    return names;
}

} // namespace spng
