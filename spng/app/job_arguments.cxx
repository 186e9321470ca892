// SPDX-License-Identifier: Apache-2.0
#include "spng/app/jsonnet.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

// Jsonnet cannot list the names of a function's parameters, so this file reads them from the text. It recognises
// comments, strings and brackets, which suffices to find `function(...)` outside of all brackets.

namespace spng::app {
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

/// Return the position of the parameters of the last function outside of all brackets and local definitions; npos
/// without one.
std::size_t find_parameters(const std::string& text) {
    const std::string keyword = "function";
    int depth = 0;
    bool in_local = false; // between `local` and its `;`, functions are definitions
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += depth_change(text[i]);
        const bool begins_word = depth == 0 && is_word(text[i]) && (i == 0 || !is_word(text[i - 1]));
        if (begins_word && text.compare(i, 5, "local") == 0 && !is_word(text[i + 5])) {
            in_local = true;
        } else if (depth == 0 && text[i] == ';') {
            in_local = false;
        } else if (begins_word && !in_local && text.compare(i, keyword.size(), keyword) == 0) {
            const auto open = text.find_first_not_of(" \t\r\n", i + keyword.size());
            return open != std::string::npos && text[open] == '(' ? open + 1 : std::string::npos;
        }
    }
    return std::string::npos;
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

std::vector<std::string> job_arguments(const std::filesystem::path& file) {
    std::ifstream stream(file);
    std::ostringstream content;
    content << stream.rdbuf();
    const std::string text = jsonnet_structure(content.str());
    std::vector<std::string> names;
    std::string name;
    bool at_name = true; // from a comma to the end of the next word
    int depth = 1;
    for (std::size_t i = find_parameters(text); i < text.size() && depth > 0; ++i) {
        depth += depth_change(text[i]);
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

} // namespace spng::app
