// SPDX-License-Identifier: Apache-2.0
// Jsonnet files from the user's side: arguments, imports, and errors that name the position.

#include "spng/job/jsonnet/jsonnet.h"

#include "spng/core/error.h"
#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <unistd.h>

namespace {

using spng::default_arguments;
using spng::describe_arguments;
using spng::evaluate_jsonnet;
using spng::is_surely_function;
using spng::job_arguments;
using spng::JsonnetBinding;
using spng::test::SnippetFile;
using Kind = JsonnetBinding::Kind;

spng::Error error_of(const std::string& text, const std::vector<JsonnetBinding>& bindings = {}) {
    const SnippetFile file(text);
    try {
        evaluate_jsonnet(file.path(), bindings, {});
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Configuration);
        return error;
    }
    ADD_FAILURE() << "no error for " << text;
    return {spng::ErrorKind::Internal, {.what = "none", .where = {}, .seen = {}, .expected = {}, .hint = {}}};
}

TEST(Jsonnet, TextAndCodeBindings) {
    const SnippetFile file("function(a, b=2) [a, b, std.extVar('c'), std.extVar('d')]");
    const auto result = evaluate_jsonnet(file.path(),
                                         {{Kind::argument_text, "a", "x=y"},
                                          {Kind::argument_code, "b", "1 + 2"},
                                          {Kind::external_text, "c", "4"},
                                          {Kind::external_code, "d", "[4]"}},
                                         {});
    EXPECT_EQ(result, nlohmann::json::parse(R"(["x=y", 3, "4", [4]])"));
}

TEST(Jsonnet, QuestionsToTheProgram) {
    const SnippetFile file(
        "local ask = std.native('is_short'); [ask('cuda'), ask('cuda:0'), std.native('other')]");
    const auto is_short = [](const std::string& text) { return text.size() < 5; };
    EXPECT_EQ(evaluate_jsonnet(file.path(), {}, {}, {{"is_short", is_short}}),
              nlohmann::json({true, false, nullptr}));
}

TEST(Jsonnet, QuestionsThatFail) {
    const auto message_of = [](const std::string& code) {
        const SnippetFile file(code);
        const auto fail = [](const std::string& text) -> bool { throw std::runtime_error("not " + text); };
        try {
            evaluate_jsonnet(file.path(), {}, {}, {{"fails", fail}});
        } catch (const spng::Error& error) {
            return error.text().what;
        }
        return std::string();
    };
    EXPECT_EQ(message_of("std.native('fails')('this')"), "the configuration does not evaluate: not this");
    EXPECT_EQ(message_of("std.native('fails')(3)"),
              "the configuration does not evaluate: fails takes a text");
}

TEST(Jsonnet, ImportsAreSearchedInTheOrderGiven) {
    namespace fs = std::filesystem;
    const fs::path root = fs::temp_directory_path() / ("spng_imports_" + std::to_string(getpid()));
    for (const char* folder : {"first", "second"}) {
        fs::create_directories(root / folder);
        std::ofstream(root / folder / "name.libsonnet") << "'" << folder << "'";
    }
    const SnippetFile file("import 'name.libsonnet'");
    EXPECT_EQ(evaluate_jsonnet(file.path(), {}, {root / "first", root / "second"}), "first");
    EXPECT_EQ(evaluate_jsonnet(file.path(), {}, {root / "second", root / "first"}), "second");
    fs::remove_all(root);
}

std::string repeated(const std::string& text, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) {
        result += text;
    }
    return result;
}

TEST(Jsonnet, DeepBracketsAreRejected) {
    for (const int levels : {501, 10'000, 150'000}) {
        const auto error = error_of(repeated("[", levels) + repeated("]", levels));
        EXPECT_EQ(error.text().what, "the configuration nests too deeply");
        EXPECT_NE(error.text().where.find(", line 1, column 501"), std::string::npos) << error.text().where;
    }
    EXPECT_EQ(error_of(repeated("{a:", 10'000) + "1" + repeated("}", 10'000)).text().what,
              "the configuration nests too deeply");
    EXPECT_EQ(error_of(repeated("(", 10'000) + "1" + repeated(")", 10'000)).text().what,
              "the configuration nests too deeply");
    const SnippetFile allowed(repeated("[", 500) + repeated("]", 500));
    EXPECT_TRUE(evaluate_jsonnet(allowed.path(), {}, {}).is_array());
}

TEST(Jsonnet, BracketsInCodeBindingsCount) {
    const std::string deep = repeated("[", 10'000) + repeated("]", 10'000);
    EXPECT_EQ(error_of("function(a) a", {{Kind::argument_code, "a", deep}}).text().where,
              "--tla-code a, line 1, column 501");
    EXPECT_EQ(error_of("std.extVar('a')", {{Kind::external_code, "a", deep}}).text().where,
              "--ext-code a, line 1, column 501");
    const std::string text = repeated("[", 4096);
    const SnippetFile file("function(a) [a, std.extVar('b')]");
    EXPECT_EQ(evaluate_jsonnet(file.path(),
                               {{Kind::argument_text, "a", text}, {Kind::external_text, "b", text}}, {}),
              nlohmann::json({text, text}));
}

TEST(Jsonnet, LongTextsAreRejected) {
    const std::string text(4097, 'x');
    EXPECT_EQ(error_of("function(a) a", {{Kind::argument_text, "a", text}}).text().where, "-A a");
    EXPECT_EQ(error_of("std.extVar('a')", {{Kind::external_text, "a", text}}).text().seen, "4097 characters");
    EXPECT_EQ(evaluate_jsonnet(SnippetFile("function(a) 1").path(),
                               {{Kind::argument_code, "a", "'" + text + "'"}}, {}),
              1);
}

TEST(Jsonnet, BracketsInStringsAndCommentsDoNotCount) {
    const std::string open = repeated("[", 10'000);
    const SnippetFile file("// " + open + "\n/* " + open + " */ # " + open + "\n['" + open + "', \"" + open +
                           "\", @'\\', |||\n  " + open + "\n|||]");
    EXPECT_EQ(evaluate_jsonnet(file.path(), {}, {}).size(), 4u);
}

TEST(Jsonnet, DeepExpressionsWithoutBracketsEvaluate) {
    const SnippetFile sum("1" + repeated("+1", 20'000));
    EXPECT_EQ(evaluate_jsonnet(sum.path(), {}, {}), 20'001);
    const SnippetFile chain(repeated("if false then 0 else ", 20'000) + "1");
    EXPECT_EQ(evaluate_jsonnet(chain.path(), {}, {}), 1);
}

TEST(Jsonnet, DeepImportsAreRejected) {
    const SnippetFile deep(repeated("[", 20'000) + repeated("]", 20'000));
    EXPECT_NE(error_of("import '" + deep.path().string() + "'").text().what.find("max stack frames exceeded"),
              std::string::npos);
}

TEST(Jsonnet, DeepValuesAreRejected) {
    EXPECT_EQ(error_of("std.foldl(function(inner, i) [inner], std.range(1, 600), 0)").text().what,
              "the configuration's value nests too deeply");
    EXPECT_NE(error_of("std.foldl(function(inner, i) [inner], std.range(1, 100000), 0)")
                  .text()
                  .what.find("max stack frames exceeded"),
              std::string::npos);
}

// The stack would end in operator new of a sanitizer, which cannot be left there.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(Jsonnet, AFaultOfTheLibraryIsAnErrorAndTheProcessGoesOn) {
    struct sigaction before {
    }, after{};
    sigaction(SIGSEGV, nullptr, &before);
    for (int i = 0; i < 2; ++i) {
        for (const int depth : {200'000, 200'001, 210'003}) {
            EXPECT_EQ(error_of(repeated("if true then ", depth) + "1").text().what,
                      "the configuration nests too deeply");
        }
        EXPECT_EQ(error_of("[std.parseYaml('a: &a [1]')]").text().what, "Jsonnet's library gave up");
    }
    const SnippetFile fine("[1]");
    EXPECT_EQ(evaluate_jsonnet(fine.path(), {}, {}), nlohmann::json::array({1}));
    sigaction(SIGSEGV, nullptr, &after);
    EXPECT_EQ(before.sa_handler, after.sa_handler);
}
#endif

TEST(Jsonnet, UnknownArgumentNamesTheKnownOnes) {
    const auto error =
        error_of("function(input='a', output='b') [input]", {{Kind::argument_text, "inptu", "x.npz"}});
    EXPECT_EQ(error.text().what, "the job has no argument 'inptu'");
    EXPECT_EQ(error.text().seen, "-A inptu=x.npz");
    EXPECT_EQ(error.text().expected, "one of: input, output");
    EXPECT_EQ(error.text().hint, "did you mean 'input'?");
}

TEST(Jsonnet, UnknownArgumentByAnotherCommonWord) {
    const auto hint_of = [](const std::string& name) {
        return error_of("function(detname=1, tpcid=2, mask_threshold=3, seed_threshold=4) detname",
                        {{Kind::argument_text, name, "x"}})
            .text()
            .hint;
    };
    EXPECT_EQ(hint_of("detector"), "did you mean 'detname'?");
    EXPECT_EQ(hint_of("anode"), "did you mean 'tpcid'?");
    EXPECT_EQ(hint_of("detectr"), "did you mean 'detname'?") << "a misspelt common word";
    EXPECT_EQ(hint_of("thresold"), "did you mean 'mask_threshold' or 'seed_threshold'?");
    EXPECT_EQ(hint_of("network"), "");
    EXPECT_EQ(hint_of("abc"), "");
}

TEST(Jsonnet, MissingArgument) {
    EXPECT_EQ(error_of("function(input) input").text().what, "the job needs the argument 'input'");
}

TEST(Jsonnet, ArgumentsForAFileThatIsNoFunction) {
    EXPECT_EQ(error_of("[]", {{Kind::argument_text, "a", "1"}}).text().what,
              "the configuration takes no arguments");
}

TEST(Jsonnet, RuntimeErrorNamesFileAndLine) {
    const auto error = error_of("local f(x) = x.foo;\n\n[f({})]");
    EXPECT_NE(error.text().what.find("field does not exist: foo"), std::string::npos);
    EXPECT_NE(error.text().where.find(".jsonnet:1:14-19"), std::string::npos) << error.text().where;
    EXPECT_NE(error.text().where.find(".jsonnet:3:2-7"), std::string::npos) << error.text().where;
}

TEST(Jsonnet, StaticErrorNamesFileAndLine) {
    const auto error = error_of("{ a: 1,\n  b: c }");
    EXPECT_NE(error.text().what.find("Unknown variable: c"), std::string::npos);
    EXPECT_NE(error.text().where.find(".jsonnet:2:6"), std::string::npos) << error.text().where;
}

TEST(Jsonnet, MissingImport) {
    EXPECT_NE(error_of("import 'nowhere.jsonnet'").text().what.find("nowhere.jsonnet"), std::string::npos);
}

TEST(JobArguments, AreReadFromTheText) {
    const SnippetFile file(R"jsonnet(
        // function(commented, out) {}
        local text = "function(quoted)"; local f = function(inner) inner; local g(also) = also;
        function(
            input='a,b', // the file, or
            flags=[1, 2], limits={ low: 0, high: f(3) },
            last
        ) [function(nested) nested])jsonnet");
    EXPECT_EQ(job_arguments(file.path()), (std::vector<std::string>{"input", "flags", "limits", "last"}));
    EXPECT_EQ(default_arguments(file.path()), nlohmann::json::parse(R"({
        "input": "a,b", "flags": [1, 2], "limits": "{ low: 0, high: f(3) }"})"));
    const SnippetFile none("{ f: function(a) a }");
    EXPECT_TRUE(job_arguments(none.path()).empty());
    EXPECT_TRUE(default_arguments(none.path()).empty());
}

TEST(Jsonnet, APipeIsReadOnce) {
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe(ends.data()), 0);
    const std::string text = "local f = 1; function(a='d', b) [f, a, b, std.thisFile]";
    ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
    const std::filesystem::path file = "/dev/fd/" + std::to_string(ends[0]);
    EXPECT_EQ(job_arguments(file), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(evaluate_jsonnet(file, {{Kind::argument_text, "b", "c"}}, {}),
              (nlohmann::json{1, "d", "c", file.string()}));
    EXPECT_EQ(default_arguments(file), (nlohmann::json{{"a", "d"}}));
    close(ends[0]);
}

TEST(JobArguments, AreDescribedByTheCommentAbove) {
    const SnippetFile file(R"jsonnet(function(
        // the file, or
        // a list
        input='a,b', // not this
        /// limit [mm]
        limit=2 * 3,
        // tag; empty: all
        tag='', flag
        ) [])jsonnet");
    EXPECT_EQ(describe_arguments(file.path()), "| argument | default | meaning |\n"
                                               "|---|---|---|\n"
                                               "| `input` | `a,b` | the file, or a list |\n"
                                               "| `limit` | `2 * 3` | limit [mm] |\n"
                                               "| `tag` | | tag; empty: all |\n"
                                               "| `flag` | must be given |  |\n");
}

TEST(JobArguments, DefaultsAreValuesOrTheirCode) {
    const SnippetFile file(R"jsonnet(function(
        text="a // b", size=-1.5e3, flag=true, nothing=null, escaped='it\'s', sum=1 + 2,
        two=["'", {"a": 1}],
        commented='x', /* y='z', */
        last=0 // not this
        ) [])jsonnet");
    EXPECT_EQ(default_arguments(file.path()), nlohmann::json::parse(R"({
        "text": "a // b", "size": -1500, "flag": true, "nothing": null, "escaped": "'it\\'s'", "sum": "1 + 2",
        "two": ["'", {"a": 1}], "commented": "x", "last": 0})"));
    EXPECT_EQ(default_arguments(SnippetFile("function(odd='ab\xe9') []").path())["odd"], "ab\uFFFD");
}

TEST(JobArguments, FunctionsAreRecognisedByTheirText) {
    for (const char* text :
         {"function(a) a", "local b = 1;\n// comment; function\nassert b == 1;\nfunction(a) a",
          "local f = local b = 1; function(a) a; function(a) f(a)"}) {
        EXPECT_TRUE(is_surely_function(text)) << text;
    }
    for (const char* text : {"local f = function(a) a; f", "if true then function(a) a else 1",
                             "{ f: function(a) a }", "local f = local b = 1; function(a) a; 5",
                             "1 + function(a) a", "local functional = 1; functional"}) {
        EXPECT_FALSE(is_surely_function(text)) << text;
    }
}

} // namespace
