// What an NVTX tool sees of ranges: a small annotated program is compiled and run under a tool of our own
// (nvtx_listener.cxx), as nsys would run it.

#include "compiler.h"

#include <gtest/gtest.h>

namespace {

const std::string annotated_program = R"cpp(
#include "spng/instrument/node_range.h"
#include <cstdio>
#include <stdexcept>
namespace spng {
struct Decon {
    void operator()(int ticks) const {
        NVTX_FUNCTION_RANGE();
        NVTX_RANGE("Decon::divide", nvtx::Kind::Decon, ticks);
        NVTX_MARK("Decon::half_way");
    }
};
namespace { void rebaseline() { NVTX_FUNCTION_RANGE(); } }
}
int main() {
    const spng::instrument::NodeLabel label("SPNGDecon:induction", "decon");
    const spng::instrument::NodeLabel odd("SPNGOdd", "no such kind");
    std::puts("made");
    for (int event = 7; event < 9; ++event) {
        const spng::instrument::NodeRange range(label, event);
        spng::Decon{}(6000);
    }
    try {
        const spng::instrument::NodeRange range(odd, 1);
        NVTX_SCOPED_RANGE("Odd::a"); NVTX_SCOPED_RANGE("Odd::b");
        throw std::runtime_error("left early");
    } catch (const std::runtime_error&) {
    }
    NVTX_RANGE_PUSH("Odd::pushed");
    spng::rebaseline();
    NVTX_RANGE_POP();
}
)cpp";

TEST(NvtxRanges, AToolSeesNamesDomainCategoryColourPayloadAndNesting) {
    const std::string compile = compiler::command();
    const std::string nvtx = compiler::nvtx_options();
    if (compile.empty() || nvtx.empty()) {
        GTEST_SKIP() << "no compiler, no checkout or no NVTX headers";
    }
    const compiler::Folder folder;
    const std::string program = folder.file("program");
    const std::string listener = folder.file("listener.so");
    const std::string root = compiler::checkout().string();
    const auto built = compiler::run(compile + nvtx + " " + folder.write("program.cxx", annotated_program) +
                                     " -ldl -o " + program);
    ASSERT_EQ(built.status, 0) << built.output;
    const auto tool = compiler::run(compile + nvtx + " -shared " + root +
                                    "/tests/instrument/nvtx_listener.cxx -o " + listener);
    ASSERT_EQ(tool.status, 0) << tool.output;

    EXPECT_EQ(compiler::run("env -u NVTX_INJECTION64_PATH " + program).output, "made\n");

    const auto heard = compiler::run("env NVTX_INJECTION64_PATH=" + listener + " " + program);
    EXPECT_EQ(heard.status, 0);
    const std::string step = " category=step colour=FFC7C7C7 payload=none\n";
    const std::string divide =
        "push 2 [spng] Decon::divide category=decon colour=FF1F4E9C payload=i32:6000\n";
    const std::string node = "push 0 [spng] SPNGDecon:induction category=decon colour=FF1F4E9C payload=u64:";
    EXPECT_EQ(heard.output,
              "register SPNGDecon:induction\n"
              "register SPNGOdd\n"
              "made\n" +
                  node + "7\n" + "register Decon::operator()\n" + "push 1 [spng] Decon::operator()" + step +
                  "register Decon::divide\n" + divide + "register Decon::half_way\n" +
                  "mark 3 [spng] Decon::half_way" + step + "pop 2\npop 1\npop 0\n" + node + "8\n" +
                  "push 1 [spng] Decon::operator()" + step + divide + "mark 3 [spng] Decon::half_way" + step +
                  "pop 2\npop 1\npop 0\n" +
                  "push 0 [spng] SPNGOdd category=other colour=FF9E9E9E payload=u64:1\n" +
                  "register Odd::a\npush 1 [spng] Odd::a" + step + "register Odd::b\npush 2 [spng] Odd::b" +
                  step + "pop 2\npop 1\npop 0\n" + "register Odd::pushed\npush 0 [spng] Odd::pushed" + step +
                  "register rebaseline\npush 1 [spng] rebaseline" + step + "pop 1\npop 0\n");
}

} // namespace
