// SPDX-License-Identifier: Apache-2.0
// A configuration in one text, and its result in the cache, have the value that libjsonnet gives file by file.

#include "spng/job/jsonnet/joined_imports.h"

#include "spng/core/error.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/support/paths.h"

extern "C" { // libjsonnet.h lacks the linkage specification
#include <libjsonnet.h>
}

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace spng {
namespace {

namespace fs = std::filesystem;

class JoinedImportsTest : public testing::Test {
protected:
    JoinedImportsTest() { setenv("SPNG_CACHE", (m_folder / "cache").c_str(), 1); }
    ~JoinedImportsTest() override {
        m_before.empty() ? unsetenv("SPNG_CACHE") : setenv("SPNG_CACHE", m_before.c_str(), 1);
    }

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((m_folder / name).parent_path());
        std::ofstream(m_folder / name) << text;
    }
    fs::path root() const { return m_folder / "root.jsonnet"; }
    std::optional<std::string> joined(const std::string& code) const {
        return with_joined_imports(root(), code, {m_folder / "library"});
    }
    /// Return the program's result for the code of the root.
    nlohmann::json result(const std::string& code, const std::vector<JsonnetQuestion>& questions = {},
                          const std::vector<JsonnetBinding>& bindings = {}) const {
        write("root.jsonnet", code);
        return evaluate_jsonnet(root(), bindings, {m_folder / "library"}, questions);
    }
    /// Return libjsonnet's own.
    nlohmann::json reference(const std::string& code) const {
        write("root.jsonnet", code);
        JsonnetVm* const machine = jsonnet_make();
        jsonnet_jpath_add(machine, (m_folder / "library").c_str());
        int failed = 0;
        char* const output = jsonnet_evaluate_file(machine, root().c_str(), &failed);
        const auto value = failed != 0 ? nlohmann::json("failed") : nlohmann::json::parse(output);
        jsonnet_realloc(machine, output, 0);
        jsonnet_destroy(machine);
        return value;
    }
    std::size_t cached() const {
        std::error_code problem;
        return static_cast<std::size_t>(
            std::distance(fs::directory_iterator(m_folder / "cache", problem), {}));
    }

    const fs::path m_folder = test::temporary_folder("joined_imports");

private:
    const std::string m_before = std::getenv("SPNG_CACHE") == nullptr ? "" : std::getenv("SPNG_CACHE");
};

TEST_F(JoinedImportsTest, HasTheValueOfTheFiles) {
    write("one.jsonnet", "1 // no end of line");
    write("folder/inner.jsonnet", "{ own: import 'beside.json', shared: import \"shared.jsonnet\" }");
    write("folder/beside.json", "{\"a\": [1, 2.5, \"import 'x'\"]}");
    write("library/shared.jsonnet", "local x = 5; x + (import 'beside.json')");
    write("library/beside.json", "7");
    write("beside.json", "8");
    write("even.jsonnet", "local odd = import 'odd.jsonnet'; { is(n):: n == 0 || odd.is(n - 1) }");
    write("odd.jsonnet", "local even = import 'even.jsonnet'; { is(n):: n != 0 && even.is(n - 1) }");
    for (const char* const code :
         {"import 'one.jsonnet'", "(import 'one.jsonnet') + 1",
          "[import 'one.jsonnet', import 'beside.json']",
          "local a = import 'folder/inner.jsonnet'; a { b: $.own }", "import 'shared.jsonnet'",
          "(import 'even.jsonnet').is(7)", "local std = 3, x = 9; [std, x, import 'shared.jsonnet']",
          "/* import 'none' */ { 'import': 'import \\'none\\'', a: import 'one.jsonnet' } # import 'none'",
          "{ a: |||\n  import 'none'\n|||, b: import 'one.jsonnet' }",
          "(function(important, import_=import 'one.jsonnet') [important, import_])(2)"}) {
        EXPECT_TRUE(joined(code)) << code;
        EXPECT_EQ(result(code), reference(code)) << code;
        EXPECT_EQ(result(code), reference(code)) << code << ", from the cache";
    }
}

TEST_F(JoinedImportsTest, TextsThatMayMeanSomethingElseAreNotJoined) {
    write("one.jsonnet", "1");
    write("name.jsonnet", "std.thisFile");
    for (const char* const code :
         {"1", "(import 'one.jsonnet') + std.length(importstr 'one.jsonnet')", "import 'name.jsonnet'",
          "std.trace('text', import 'one.jsonnet')", "if true then 1 else import 'missing.jsonnet'",
          "local spng_import_1 = 4; [spng_import_1, import 'one.jsonnet']", "import @'one.jsonnet'"}) {
        EXPECT_FALSE(joined(code)) << code;
        EXPECT_EQ(result(code), reference(code)) << code;
    }
    for (const char* const code :
         {"import 'one.jsonnet' + 1", "import 'one.jsonnet'.a", "(import 'one.jsonnet'",
          "import ('one.jsonnet')", "import 'one.jsonnet' /*"}) {
        EXPECT_FALSE(joined(code)) << code;
    }
}

TEST_F(JoinedImportsTest, FilesThatCannotBeJoinedAreImported) {
    write("text.jsonnet", "importstr 'text.txt'");
    write("text.txt", "text of a file");
    write("unbalanced.jsonnet", "1) + (2");
    write("open.jsonnet", "1 /*");
    const std::string code =
        "{ a: import 'text.jsonnet', b:: import 'unbalanced.jsonnet', c:: import 'open.jsonnet' }";
    ASSERT_TRUE(joined(code + " + (import 'text.jsonnet_')") == std::nullopt);
    write("one.jsonnet", "{ d: 1 }");
    const std::string whole = code + " + (import 'one.jsonnet')";
    ASSERT_TRUE(joined(whole));
    EXPECT_EQ(result(whole), nlohmann::json::parse(R"({"a": "text of a file", "d": 1})"));
    EXPECT_EQ(cached(), 0); // the value depends on a file that is not in the text
    write("text.txt", "other text");
    EXPECT_EQ(result(whole).at("a"), "other text");
}

TEST_F(JoinedImportsTest, ErrorsNameFileAndLine) {
    write("wrong.jsonnet", "{\n  a: error 'no such'\n}");
    try {
        result("local w = import 'wrong.jsonnet';\nw.a");
        ADD_FAILURE();
    } catch (const Error& error) {
        EXPECT_NE(error.text().what.find("no such"), std::string::npos) << error.what();
        EXPECT_NE(error.text().where.find("wrong.jsonnet:2"), std::string::npos) << error.what();
    }
}

TEST_F(JoinedImportsTest, TheCacheFollowsEachInput) {
    write("one.jsonnet", "1");
    const std::string code =
        "function(a=0) [import 'one.jsonnet', a, std.native('asks') != null && std.native('asks')('x')]";
    EXPECT_EQ(result(code), nlohmann::json({1, 0, false}));
    EXPECT_EQ(cached(), 1);
    EXPECT_EQ(result(code), nlohmann::json({1, 0, false}));
    EXPECT_EQ(cached(), 1);
    write("one.jsonnet", "2");
    EXPECT_EQ(result(code), nlohmann::json({2, 0, false}));
    EXPECT_EQ(result(code, {}, {{JsonnetBinding::Kind::argument_text, "a", "3"}}),
              nlohmann::json({2, "3", false}));
    EXPECT_EQ(result(code, {}, {{JsonnetBinding::Kind::argument_code, "a", "3"}}),
              nlohmann::json({2, 3, false}));
    EXPECT_EQ(cached(), 4);

    int asked = 0;
    bool answer = true;
    const JsonnetQuestion question{"asks", [&](const std::string& text) {
                                       ++asked;
                                       EXPECT_EQ(text, "x");
                                       return answer;
                                   }};
    EXPECT_EQ(result(code, {question}), nlohmann::json({2, 0, true}));
    EXPECT_EQ(result(code, {question}), nlohmann::json({2, 0, true}));
    EXPECT_EQ(asked, 2); // once for the evaluation, once for the entry
    answer = false;
    EXPECT_EQ(result(code, {question}), nlohmann::json({2, 0, false}));
    EXPECT_EQ(result(code, {question}), nlohmann::json({2, 0, false}));

    write("one.jsonnet", "2 // of the same value");
    setenv("SPNG_CACHE", "off", 1);
    EXPECT_EQ(result(code), nlohmann::json({2, 0, false}));
}

TEST_F(JoinedImportsTest, CodeOfAnArgumentMayReadFiles) {
    write("one.jsonnet", "1");
    const std::string code = "function(a) [a, import 'one.jsonnet']";
    write("argument.jsonnet", "5");
    const std::vector<JsonnetBinding> binding{{JsonnetBinding::Kind::argument_code, "a",
                                               "import '" + (m_folder / "argument.jsonnet").string() + "'"}};
    EXPECT_EQ(result(code, {}, binding), nlohmann::json({5, 1}));
    write("argument.jsonnet", "6");
    EXPECT_EQ(result(code, {}, binding), nlohmann::json({6, 1}));
}

} // namespace
} // namespace spng
