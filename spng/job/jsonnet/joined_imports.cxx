// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/joined_imports.h"

#include "spng/job/jsonnet/jsonnet.h"
#include "spng/job/jsonnet/jsonnet_text.h"

#include <cctype>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace spng {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "spng_import_";     // of the variables
constexpr std::size_t max_bytes = std::size_t{1} << 20; // of a file; larger ones are data

struct Import {
    std::size_t begin = 0, end = 0; ///< of `import 'name'` in the text
    std::string name;
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t skip_blanks(const std::string& text, std::size_t i) {
    while (i < text.size() && std::isspace(static_cast<unsigned char>(text[i])) != 0) {
        ++i;
    }
    return i;
}

/// Whether brackets match, so that the text in brackets is one expression if it is one alone.
bool has_matching_brackets(const std::string& structure) {
    std::string open;
    for (const char c : structure) {
        if (c == '(' || c == '[' || c == '{') {
            open += c == '(' ? ')' : c == '[' ? ']' : '}';
        } else if (c == ')' || c == ']' || c == '}') {
            if (open.empty() || open.back() != c) {
                return false;
            }
            open.pop_back();
        }
    }
    return open.empty();
}

/// Return the import whose keyword is at `begin`: of a name without escapes, followed by the end of an expression. Jsonnet rejects
/// `import 'name' + 1`, but not a variable in its place.
std::optional<Import> import_at(const std::string& text, const std::string& structure, std::size_t begin) {
    const std::size_t quote = skip_blanks(text, begin + std::string_view("import").size());
    if (quote >= text.size() || (text[quote] != '\'' && text[quote] != '"')) {
        return std::nullopt;
    }
    const std::size_t last = text.find(text[quote], quote + 1);
    if (last == std::string::npos) {
        return std::nullopt;
    }
    const std::size_t next = skip_blanks(structure, last + 1);
    if (next < structure.size() &&
        std::string_view(",;)]}").find(structure[next]) == std::string_view::npos) {
        return std::nullopt;
    }
    Import found{begin, last + 1, text.substr(quote + 1, last - quote - 1)};
    return found.name.find('\\') == std::string::npos ? std::optional(std::move(found)) : std::nullopt;
}

/// Return the imports of a text that means the same in brackets, in another file and on other lines; nothing for another one.
std::optional<std::vector<Import>> imports_of(const std::string& text) {
    if (text.size() > max_bytes || text.find('\0') != std::string::npos) {
        return std::nullopt;
    }
    const std::string structure = jsonnet_structure(text);
    const bool is_closed = jsonnet_structure(text + "\n)").back() == ')'; // no open comment or string
    if (!is_closed || !has_matching_brackets(structure) || text.find(prefix) != std::string::npos ||
        structure.find(".trace") != std::string::npos) { // std.trace prints the line
        return std::nullopt;
    }
    std::vector<Import> found;
    constexpr std::string_view keyword = "import";
    for (auto at = structure.find(keyword); at != std::string::npos;
         at = structure.find(keyword, at + keyword.size())) {
        std::size_t end = at + keyword.size();
        while (end < structure.size() && is_word(structure[end])) {
            ++end;
        }
        const bool is_field = at > 0 && structure[at - 1] == '.';
        if ((at > 0 && is_word(structure[at - 1])) || is_field) {
            continue;
        }
        const std::string_view word = std::string_view(structure).substr(at, end - at);
        if (word == "importstr" || word == "importbin") {
            return std::nullopt;
        }
        if (word == keyword) {
            const auto import = import_at(text, structure, at);
            if (!import) {
                return std::nullopt;
            }
            found.push_back(*import);
        }
    }
    return found;
}

class Joined {
public:
    explicit Joined(const std::vector<fs::path>& folders) : m_folders(folders) {}

    /// Return the text with variables in place of imports; nothing if a file is missing.
    std::optional<std::string> replaced(const fs::path& file, const std::string& text,
                                        const std::vector<Import>& imports) {
        std::string result;
        std::size_t done = 0;
        for (const Import& each : imports) {
            const auto value = value_of(file, each.name);
            if (!value) {
                return std::nullopt;
            }
            result.append(text, done, each.begin - done).append("(" + *value + ")");
            done = each.end;
        }
        return result.append(text, done);
    }

    bool has_definitions() const { return !m_texts.empty(); }
    /// Return the definitions of the variables.
    std::string definitions() const {
        std::string result;
        for (const auto& [name, text] : m_texts) {
            result += (result.empty() ? "local " : ", ") + name + " = (" + text + "\n)";
        }
        return result + ";\n";
    }

private:
    /// Return the file that Jsonnet finds.
    std::optional<fs::path> found(const fs::path& importing, const std::string& name) const {
        std::vector<fs::path> folders{importing.parent_path()};
        folders.insert(folders.end(), m_folders.begin(), m_folders.end());
        for (const fs::path& folder : folders) {
            std::error_code problem;
            const fs::path candidate = folder / name;
            if (fs::exists(candidate, problem)) {
                return fs::is_regular_file(candidate, problem) ? std::optional(candidate) : std::nullopt;
            }
        }
        return std::nullopt;
    }

    /// Return the expression for an imported file: a variable, or its import by its absolute path.
    std::optional<std::string> value_of(const fs::path& importing, const std::string& name) {
        const auto file = found(importing, name);
        if (!file) {
            return std::nullopt;
        }
        const fs::path path = fs::absolute(*file);
        if (const auto known = m_known.find(path.string()); known != m_known.end()) {
            return known->second;
        }
        const std::string text = jsonnet_text(path);
        if (text.find("thisFile") != std::string::npos ||
            path.string().find_first_of("'\\") != std::string::npos) {
            return std::nullopt;
        }
        const auto imports = imports_of(text);
        if (!imports) {
            return m_known[path.string()] = std::string("if std.native('") + reads_file_question +
                                            "')('') then (import '" + path.string() + "')";
        }
        const std::string variable = std::string(prefix) + std::to_string(m_known.size());
        m_known[path.string()] = variable; // before its imports, which may be of this file
        const auto joined = replaced(path, text, *imports);
        if (!joined) {
            return std::nullopt;
        }
        m_texts.emplace_back(variable, *joined);
        return variable;
    }

    const std::vector<fs::path>& m_folders;
    std::map<std::string, std::string> m_known;               ///< expressions by path
    std::vector<std::pair<std::string, std::string>> m_texts; ///< of the variables
};

} // namespace

std::optional<std::string> with_joined_imports(const fs::path& file, const std::string& code,
                                               const std::vector<fs::path>& folders) {
    const auto imports = imports_of(code);
    if (!imports || imports->empty()) {
        return std::nullopt;
    }
    Joined joined(folders);
    const auto text = joined.replaced(file, code, *imports);
    return text && joined.has_definitions() ? std::optional(joined.definitions() + *text) : std::nullopt;
}

} // namespace spng
