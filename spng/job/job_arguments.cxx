// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/jsonnet.h"

#include "spng/core/printable.h"
#include "spng/job/jsonnet/jsonnet_text.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>
#include <utility>

// Jsonnet cannot list a function's parameters, so this file reads them from the text. It recognises
// comments, strings and brackets, which suffices to find `function(...)` outside of all brackets.

namespace spng {
namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Return the position after `end`, searched from `from`; that of the end of the text without one.
std::size_t end_of(const std::string& text, const std::string& end, std::size_t from) {
    const auto found = text.find(end, from);
    return found == std::string::npos ? text.size() : found + end.size();
}

/// Return the position after the comment that begins at `i`, or `i` if none does.
std::size_t after_comment(const std::string& text, std::size_t i) {
    if (text[i] == '#' || text.compare(i, 2, "//") == 0) {
        return end_of(text, "\n", i);
    }
    return text.compare(i, 2, "/*") == 0 ? end_of(text, "*/", i + 2) : i;
}

/// Return the position after the string that begins at `i`, or `i` if none does.
std::size_t after_string(const std::string& text, std::size_t i) {
    if (text.compare(i, 3, "|||") == 0) {
        return end_of(text, "|||", i + 3);
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

/// Return Jsonnet text with blanks in place of comments, and of strings unless they are kept, at the same positions.
std::string without_comments(std::string text, bool keeps_strings) {
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t comment = after_comment(text, i);
        const std::size_t after = comment > i ? comment : after_string(text, i);
        if (comment > i || !keeps_strings) {
            std::replace_if(
                text.begin() + static_cast<std::ptrdiff_t>(i),
                text.begin() + static_cast<std::ptrdiff_t>(after), [](char c) { return c != '\n'; }, ' ');
        }
        i = std::max(after, i + 1);
    }
    return text;
}

/// Return the value of code that is a number, a boolean, null, a string without escapes, or a JSON value; else the code as a string.
nlohmann::json literal(const std::string& code) {
    const bool is_quoted = code.size() > 1 && code.front() == '\'' && code.back() == '\'';
    if (is_quoted && code.find_first_of("\\'", 1) == code.size() - 1) {
        return code.substr(1, code.size() - 2);
    }
    nlohmann::json value = nlohmann::json::parse(code, nullptr, false);
    return value.is_discarded() ? nlohmann::json(code) : value;
}

struct Parameter {
    std::string name;
    std::string code; ///< of the default, without comments; empty without one
    std::string text; ///< comment in the lines above
};

/// Return the text of the comments that are lines of their own after the first line.
std::string comment_of(const std::string& text) {
    std::istringstream lines(text);
    std::string line, comment;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
        if (const std::string code = trimmed(line); code.starts_with("//")) {
            comment += (comment.empty() ? "" : " ") + trimmed(code.substr(code.find_first_not_of('/')));
        }
    }
    return comment;
}

/// Return the parameters of the file's function outside of all brackets, in order.
std::vector<Parameter> parameters_of(const std::filesystem::path& file) {
    const std::string whole = jsonnet_text(file), text = without_comments(whole, true);
    const std::string structure = jsonnet_structure(text);
    std::vector<Parameter> found;
    int depth = 0;
    std::size_t begin = 0; // of the parameter
    for (std::size_t i = structure.find('(', find_function(structure)); i < structure.size(); ++i) {
        const int before = depth;
        depth += depth_change(structure[i]);
        if (before == 0) {
            begin = i + 1;
        } else if (depth == 0 || (depth == 1 && structure[i] == ',')) {
            const std::size_t equals = std::min(structure.find('=', begin), i);
            if (const std::string name = trimmed(text.substr(begin, equals - begin)); !name.empty()) {
                const std::size_t code = std::min(equals + 1, i);
                found.push_back({name, trimmed(text.substr(code, i - code)),
                                 comment_of(whole.substr(begin, equals - begin))});
            }
            begin = i + 1;
        }
        if (depth == 0) {
            break;
        }
    }
    return found;
}

} // namespace

std::string trimmed(const std::string& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string jsonnet_structure(std::string text) {
    return without_comments(std::move(text), false);
}

bool is_surely_function(const std::string& code) {
    const std::string text = jsonnet_structure(code);
    const auto function = find_function(text);
    if (function == std::string::npos) {
        return false;
    }
    const auto last = text.substr(0, function).find_last_not_of(" \t\r\n");
    return last == std::string::npos || text[last] == ';';
}

std::vector<std::string> job_arguments(const std::filesystem::path& file) {
    std::vector<std::string> names;
    for (const Parameter& parameter : parameters_of(file)) {
        names.push_back(parameter.name);
    }
    return names;
}

std::string describe_arguments(const std::filesystem::path& file) {
    std::string table = "| argument | default | meaning |\n|---|---|---|\n";
    for (const Parameter& parameter : parameters_of(file)) {
        const nlohmann::json value = literal(parameter.code);
        const std::string code = value.is_string() ? value.get<std::string>() : parameter.code;
        const std::string shown = parameter.code.empty() ? "must be given "
                                  : code.empty()         ? ""
                                                         : "`" + code + "` ";
        table += "| `" + parameter.name + "` | " + shown + "| " + parameter.text + " |\n";
    }
    return table;
}

nlohmann::json default_arguments(const std::filesystem::path& file) {
    nlohmann::json values = nlohmann::json::object();
    for (const Parameter& parameter : parameters_of(file)) {
        if (!parameter.code.empty()) {
            values[parameter.name] = literal(parameter.code);
        }
    }
    // The text need not be UTF-8; reports are.
    return nlohmann::json::parse(json_text(values));
}

} // namespace spng
