// SPDX-License-Identifier: Apache-2.0
// Symbols and strings that TorchnvTools.h leaves in an object file, with NVTX and without.

#include "compiler.h"

#include <gtest/gtest.h>

namespace {

/// Uses every macro where users put them. `touched` shows whether arguments are evaluated.
const std::string annotated_unit = R"cpp(
#include "WireCellSpng/TorchnvTools.h"
int touched = 0;
namespace spng {
struct Decon {
    int operator()(int ticks) const;
};
int Decon::operator()(int ticks) const {
    NVTX_FUNCTION_RANGE();
    NVTX_SCOPED_RANGE("Decon::first_secret"); NVTX_SCOPED_RANGE("Decon::second_secret");
    NVTX_RANGE("Decon::colour_secret", 0xFF4E79A7);
    NVTX_RANGE("Decon::payload_secret", 0xFF4E79A7, ++touched);
    if (ticks > 1)
        NVTX_SCOPED_RANGE("Decon::branch_secret");
    else
        NVTX_MARK("Decon::mark_secret");
    NVTX_MARKER("Decon::marker_secret");
    NVTX_RANGE_PUSH("Decon::push_secret");
    NVTX_RANGE_POP();
    const auto upload = NVTX_RANGE_START("Decon::start_secret", touched);
    NVTX_RANGE_END(upload);
    NVTX_IO_RANGE("Decon::io_secret", touched);
    NVTX_SCHEDULING_RANGE("Decon::scheduling_secret");
    NVTX_SCHEDULING_MARK("Decon::probe_secret");
    NVTX_RANGE("Decon::named_colour_secret", NVTX_COLOR::Orange);
    const char* const run_time_name = ticks > 1 ? "Decon::one" : "Decon::other";
    NVTX_SCOPED_RANGE(run_time_name);
    NVTX_MARK(run_time_name);
    return ticks + 1;
}
}
int main() { return spng::Decon{}(1) == 2 ? touched : 9; }
)cpp";

class NvtxMacros : public testing::Test {
protected:
    void SetUp() override {
        if (m_compiler.empty()) {
            GTEST_SKIP() << "no compiler or no checkout";
        }
    }

    /// Everything that could give an object file away: its symbols and its strings.
    std::string traces(const std::string& object) const {
        const auto symbols = compiler::run("nm -aC " + object);
        EXPECT_EQ(symbols.status, 0) << symbols.output;
        std::string content;
        std::ifstream file(object, std::ios::binary);
        content.assign(std::istreambuf_iterator<char>(file), {});
        return symbols.output + content;
    }

    std::string compile(const std::string& options) {
        const std::string source = m_folder.write("unit.cxx", annotated_unit);
        const std::string object = m_folder.file("unit.o");
        const auto outcome = compiler::run(m_compiler + options + " -c " + source + " -o " + object);
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        return traces(object);
    }

    compiler::Folder m_folder;
    std::string m_compiler = compiler::command();
};

TEST_F(NvtxMacros, LeaveNoTraceWithoutNvtx) {
    for (const char* options : {"", " -DSPNG_NVTX=0", " -O0", " -O0 -g", " -std=c++17"}) {
        const std::string found = compile(options);
        ASSERT_NE(found.find("main"), std::string::npos) << "nm shows nothing at all";
        EXPECT_EQ(found.find("nvtx"), std::string::npos) << options;
        EXPECT_EQ(found.find("secret"), std::string::npos) << options;
    }
}

TEST_F(NvtxMacros, AreThereWithNvtx) {
    const std::string nvtx = compiler::nvtx_options();
    if (nvtx.empty()) {
        GTEST_SKIP() << "no NVTX headers";
    }
    const std::string found = compile(nvtx);
    EXPECT_NE(found.find("nvtx"), std::string::npos);
    for (const char* name : {"first", "second", "colour", "payload", "branch", "mark", "marker", "push",
                             "start", "io", "scheduling", "probe", "named_colour"}) {
        EXPECT_NE(found.find(std::string("Decon::") + name + "_secret"), std::string::npos) << name;
    }
    // The toolkit's switch does the same, also under its standard.
    const auto end = nvtx.find(" -isystem");
    const std::string toolkit = " -std=c++17 -DHAVE_NVTX=1" + nvtx.substr(end);
    EXPECT_NE(compile(toolkit).find("Decon::first_secret"), std::string::npos);
}

TEST_F(NvtxMacros, EvaluateArgumentsOnlyWithNvtx) {
    compile("");
    const std::string program = m_folder.file("program");
    ASSERT_EQ(compiler::run(m_compiler + " " + m_folder.file("unit.o") + " -o " + program).status, 0);
    EXPECT_EQ(compiler::run(program).status, 0) << "an argument was evaluated";
    if (const std::string nvtx = compiler::nvtx_options(); !nvtx.empty()) {
        compile(nvtx);
        const auto linked = compiler::run(m_compiler + " " + m_folder.file("unit.o") + " -ldl -o " + program);
        ASSERT_EQ(linked.status, 0) << linked.output;
        EXPECT_EQ(compiler::run(program).status, 1);
    }
}

/// As in the toolkit's pgraph/src/Graph.cxx, which is compiled with -std=c++17 -pedantic -Werror.
TEST_F(NvtxMacros, FitTheToolkitsSourcesAndFlags) {
    const std::string source = m_folder.write("graph.cxx", R"cpp(
#include "WireCellSpng/TorchnvTools.h"
#include <string>
struct Node { std::string instance_name() const; };
void unit(Node* node) {
    NVTX_SCOPED_RANGE((node->instance_name()).c_str());
    NVTX_SCOPED_RANGE("node " + node->instance_name());
    NVTX_SCOPED_RANGE("Node::call");
    NVTX_RANGE_PUSH("Node::push");
    NVTX_RANGE_POP();
    NVTX_MARKER("Node::mark");
    NVTX_RANGE("Node::colour", NVTX_COLOR::Orange);
    NVTX_IO_RANGE("Node::file");
    NVTX_SCHEDULING_RANGE("Node::wait");
    NVTX_RANGE_END(NVTX_RANGE_START("Node::upload"));
}
)cpp");
    for (const std::string& options : {std::string(), compiler::nvtx_options()}) {
        const auto outcome =
            compiler::run(m_compiler + options + " -std=c++17 -pedantic -Werror -fsyntax-only " + source);
        EXPECT_EQ(outcome.status, 0) << options << outcome.output;
    }
}

TEST_F(NvtxMacros, RejectAnEmptyName) {
    const std::string source = m_folder.write("wrong.cxx", R"cpp(
#include "WireCellSpng/TorchnvTools.h"
void unit() { NVTX_SCOPED_RANGE(""); }
)cpp");
    EXPECT_NE(compiler::run(m_compiler + " -fsyntax-only " + source).status, 0);
}

/// The header must do without any other header while it is off: steps include it everywhere.
TEST_F(NvtxMacros, IncludeNothingWithoutNvtx) {
    const std::string source = m_folder.write("empty.cxx", "#include \"WireCellSpng/TorchnvTools.h\"\n");
    const auto outcome = compiler::run(m_compiler + " -H -fsyntax-only " + source);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find(". "), std::string::npos);
    EXPECT_EQ(outcome.output.find(".. "), std::string::npos) << outcome.output;
}

} // namespace
