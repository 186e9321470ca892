// SPDX-License-Identifier: Apache-2.0
#pragma once
// Evaluates a piece of Jsonnet that may import the project's libraries.

#include "spng/io/data_path.h"
#include "spng/job/jsonnet/jsonnet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

namespace spng::test {

/// A file that is removed with the object.
class SnippetFile {
public:
    explicit SnippetFile(const std::string& text, const std::string& ending = ".jsonnet") {
        static int count = 0;
        m_path = std::filesystem::temp_directory_path() /
                 ("spng_snippet_" + std::to_string(getpid()) + "_" + std::to_string(count++) + ending);
        std::ofstream(m_path) << text;
    }
    ~SnippetFile() { std::filesystem::remove(m_path); }
    SnippetFile(const SnippetFile&) = delete;
    SnippetFile& operator=(const SnippetFile&) = delete;
    const std::filesystem::path& path() const { return m_path; }

private:
    std::filesystem::path m_path;
};

inline nlohmann::json evaluate(const std::string& text, const std::vector<JsonnetBinding>& bindings = {}) {
    const SnippetFile file("local wc = import 'wirecell.jsonnet'; local pg = import 'pgraph.jsonnet';\n" +
                           text);
    return evaluate_jsonnet(file.path(), bindings, {own_folder("cfg") / "lib", own_folder("cfg")});
}

/// A field of a library and an expression with it.
struct LibraryCase {
    const char* name;
    const char* expression;
    const char* expected; ///< JSON
};

/// Evaluate the expressions, all at once, and compare them with the expected values. Return the names.
/// @param locals  Jsonnet in front of the expressions
inline std::set<std::string> check_cases(const std::vector<LibraryCase>& cases, const std::string& locals) {
    std::string object;
    std::set<std::string> names;
    for (const auto& [name, expression, expected] : cases) {
        object += std::string("'") + name + "': (" + expression + "),\n";
        names.insert(name);
    }
    const nlohmann::json values = evaluate(locals + "{" + object + "}");
    for (const auto& [name, expression, expected] : cases) {
        EXPECT_EQ(values.at(name), nlohmann::json::parse(expected)) << name;
    }
    return names;
}

} // namespace spng::test
