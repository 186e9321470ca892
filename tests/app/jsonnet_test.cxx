// Jsonnet files from the user's side: arguments, imports, and errors that name the place.

#include "spng/app/jsonnet.h"

#include "spng/core/error.h"
#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

namespace {

using spng::app::evaluate_jsonnet;
using spng::app::job_arguments;
using spng::app::JsonnetBinding;
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
    return {spng::ErrorKind::Internal, {.what = "none", .where = {}, .seen = {}, .expected = {}, .mend = {}}};
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

TEST(Jsonnet, UnknownArgumentNamesTheKnownOnes) {
    const auto error =
        error_of("function(input='a', output='b') [input]", {{Kind::argument_text, "inptu", "x.npz"}});
    EXPECT_EQ(error.text().what, "the job has no argument 'inptu'");
    EXPECT_EQ(error.text().seen, "-A inptu=x.npz");
    EXPECT_EQ(error.text().expected, "one of: input, output");
    EXPECT_EQ(error.text().mend, "did you mean 'input'?");
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
    const SnippetFile none("{ f: function(a) a }");
    EXPECT_TRUE(job_arguments(none.path()).empty());
}

} // namespace
