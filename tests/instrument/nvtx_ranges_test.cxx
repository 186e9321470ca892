// SPDX-License-Identifier: Apache-2.0
// Ranges as an NVTX tool sees them: compile a small annotated program and run it under a tool of our own
// (nvtx_listener.cxx), as nsys would run it.

#include "compiler.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

const std::string annotated_program = R"cpp(
#include "spng/instrument/node_range.h"
#include <cstdio>
#include <stdexcept>
namespace spng {
struct Decon {
    void operator()(int ticks) const {
        NVTX_FUNCTION_RANGE();
        NVTX_RANGE("Decon::multiply", nvtx::Kind::Decon, ticks);
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

/// Compiles programs to be heard by the listener.
class NvtxRanges : public testing::Test {
protected:
    void SetUp() override {
        if (compiler::listener().empty()) {
            GTEST_SKIP() << "no compiler, no checkout or no NVTX headers";
        }
    }

    void build(const std::string& source) {
        const auto built = compiler::run(m_compile + m_folder.write("program.cxx", source) + " -ldl -o " +
                                         m_folder.file("program"));
        ASSERT_EQ(built.status, 0) << built.output;
    }

    /// Return the listener's output about the program, and the program's own output.
    std::string heard(const std::string& settings = "") const {
        const auto outcome =
            compiler::run("env -u SPNG_NVTX_LEVEL NVTX_INJECTION64_PATH=" + compiler::listener() + " " +
                          settings + " " + m_folder.file("program"));
        EXPECT_EQ(outcome.status, 0);
        return outcome.output;
    }

    const compiler::Folder m_folder;
    const std::string m_compile = compiler::command() + compiler::nvtx_options() + " ";
};

TEST_F(NvtxRanges, AToolSeesNamesDomainCategoryColourPayloadAndNesting) {
    build(annotated_program);
    EXPECT_EQ(compiler::run("env -u NVTX_INJECTION64_PATH " + m_folder.file("program")).output, "made\n");

    const std::string step = " category=step colour=FFC7C7C7 payload=none\n";
    const std::string multiply =
        "push 2 [spng] Decon::multiply category=decon colour=FF1F4E9C payload=i32:6000\n";
    const std::string node = "push 0 [spng] SPNGDecon:induction category=decon colour=FF1F4E9C payload=u64:";
    EXPECT_EQ(heard(), "register SPNGDecon:induction\n"
                       "register SPNGOdd\n"
                       "made\n" +
                           node + "7\n" + "register Decon::operator()\n" + "push 1 [spng] Decon::operator()" +
                           step + "register Decon::multiply\n" + multiply + "register Decon::half_way\n" +
                           "mark 3 [spng] Decon::half_way" + step + "pop 2\npop 1\npop 0\n" + node + "8\n" +
                           "push 1 [spng] Decon::operator()" + step + multiply +
                           "mark 3 [spng] Decon::half_way" + step + "pop 2\npop 1\npop 0\n" +
                           "push 0 [spng] SPNGOdd category=other colour=FF9E9E9E payload=u64:1\n" +
                           "register Odd::a\npush 1 [spng] Odd::a" + step +
                           "register Odd::b\npush 2 [spng] Odd::b" + step + "pop 2\npop 1\npop 0\n" +
                           "register Odd::pushed\npush 0 [spng] Odd::pushed" + step +
                           "register rebaseline\npush 1 [spng] rebaseline" + step + "pop 1\npop 0\n");
}

/// A literal is registered at its first call, another name is text at each call.
TEST_F(NvtxRanges, NamesOfTheRunTimeAndNamesOfColours) {
    build(R"cpp(
#include "WireCellSpng/TorchnvTools.h"
#include <string>
int main() {
    for (const std::string instance : {"first", "second"}) {
        NVTX_SCOPED_RANGE("Decon:" + instance);
        NVTX_RANGE(instance.c_str(), NVTX_COLOR::Orange, 3u);
        NVTX_RANGE("Decon::literal", NVTX_COLOR::Blue);
        NVTX_MARK(instance);
        NVTX_RANGE_PUSH(instance);
        NVTX_RANGE_POP();
    }
}
)cpp");
    const std::string step = " category=step colour=FFC7C7C7 payload=none\n";
    const auto turn = [&](const std::string& instance, const std::string& registered) {
        const std::string text = instance + " (not registered)";
        return "push 0 [spng] Decon:" + text + step + "push 1 [spng] " + text +
               " category=step colour=FFFFA500 payload=u32:3\n" + registered +
               "push 2 [spng] Decon::literal category=step colour=FF0000FF payload=none\n" +
               "mark 3 [spng] " + text + step + "push 3 [spng] " + text + step +
               "pop 3\npop 2\npop 1\npop 0\n";
    };
    EXPECT_EQ(heard(), turn("first", "register Decon::literal\n") + turn("second", ""));
}

/// One range or mark of each level and domain.
const std::string every_domain = R"cpp(
#include "spng/instrument/event_range.h"
#include "spng/instrument/node_range.h"
int main() {
    const spng::instrument::NodeLabel label("FrameFileSource", "source");
    const spng::instrument::EventRange event(5);
    {
        const spng::instrument::NodeRange node(label, 5);
        NVTX_SCOPED_RANGE("FrameFileSource::read");
        NVTX_IO_RANGE("FrameReader::next", 1234u);
    }
    NVTX_SCHEDULING_RANGE("TbbFlow::feed", 5u);
    NVTX_SCHEDULING_MARK("TbbFlow::end_of_stream");
    NVTX_RANGE("Run::capture", spng::nvtx::Kind::Capture);
    NVTX_RANGE("Run::replay", spng::nvtx::Kind::Replay);
}
)cpp";

/// Without the lines about registration.
std::string without_registrations(const std::string& heard) {
    std::istringstream lines(heard);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("register ", 0) != 0) {
            kept += line + "\n";
        }
    }
    return kept;
}

TEST_F(NvtxRanges, DomainsAndLevels) {
    build(every_domain);
    const std::string event = "start 1 [spng.sched] event category=event colour=FF34495E payload=u64:5\n";
    const std::string node = "push 0 [spng] FrameFileSource category=source colour=FF8C6D31 payload=u64:5\n";
    const std::string files =
        "push 1 [spng] FrameFileSource::read category=step colour=FFC7C7C7 payload=none\n"
        "push 2 [spng.io] FrameReader::next category=io colour=FF6E4B2A payload=u32:1234\n"
        "pop 2\npop 1\n";
    const std::string scheduling =
        "push 0 [spng.sched] TbbFlow::feed category=scheduling colour=FF5D6D7E payload=u32:5\n"
        "mark 1 [spng.sched] TbbFlow::end_of_stream category=scheduling colour=FF5D6D7E payload=none\n";
    const auto graphs = [](int depth) {
        return "push " + std::to_string(depth) +
               " [spng] Run::capture category=capture colour=FFF1C40F payload=none\n" + "push " +
               std::to_string(depth + 1) +
               " [spng] Run::replay category=replay colour=FFF7DC6F payload=none\n" + "pop " +
               std::to_string(depth + 1) + "\npop " + std::to_string(depth) + "\n";
    };
    const std::string end = "end 1 [spng.sched]\n";
    const auto at_level = [&](const char* level) {
        return without_registrations(heard(std::string("SPNG_NVTX_LEVEL=") + level));
    };
    EXPECT_EQ(at_level("0"), "");
    EXPECT_EQ(at_level("1"), event + node + "pop 0\n" + end);
    EXPECT_EQ(at_level("2"), event + node + files + "pop 0\n" + graphs(0) + end);
    EXPECT_EQ(at_level("3"), event + node + files + "pop 0\n" + scheduling + graphs(1) + "pop 0\n" + end);
    EXPECT_EQ(at_level("4"), at_level("3"));
    // Nothing said, or nothing that is a level.
    EXPECT_EQ(without_registrations(heard()), at_level("2"));
    EXPECT_EQ(at_level("23"), at_level("2"));
}

TEST_F(NvtxRanges, AsynchronousRangesOverlapAndEndOnOtherThreads) {
    build(R"cpp(
#include "WireCellSpng/TorchnvTools.h"
#include <thread>
int main() {
    auto first = NVTX_RANGE_START("Upload::first", 7u);
    auto second = NVTX_RANGE_START("Upload::second");
    std::thread([&] { NVTX_RANGE_END(first); }).join();
    NVTX_RANGE_END(second);
    spng::nvtx::set_level(spng::nvtx::Level::Nodes);
    auto third = NVTX_RANGE_START("Upload::third");
    spng::nvtx::set_level(spng::nvtx::Level::Steps);
    NVTX_RANGE_END(third);
}
)cpp");
    EXPECT_EQ(without_registrations(heard()),
              "start 1 [spng] Upload::first category=step colour=FFC7C7C7 payload=u32:7\n"
              "start 2 [spng] Upload::second category=step colour=FFC7C7C7 payload=none\n"
              "end 1 [spng]\nend 2 [spng]\n");
}

TEST_F(NvtxRanges, StayBalancedWhenTheLevelChangesInside) {
    build(R"cpp(
#include "WireCellSpng/TorchnvTools.h"
using namespace spng::nvtx;
int main() {
    {
        NVTX_SCOPED_RANGE("A::scope");
        NVTX_RANGE_PUSH("A::push");
        set_level(Level::Off);
        NVTX_RANGE_PUSH("A::kept_back");
        NVTX_SCOPED_RANGE("A::silent");
        set_level(Level::Steps);
        NVTX_RANGE_PUSH("A::above_kept_back");
        NVTX_RANGE_POP();
        NVTX_RANGE_POP();
        NVTX_RANGE_POP();
        set_level(Level::Off);
    }
    set_level(Level::Steps);
    NVTX_MARK("A::outside");
}
)cpp");
    const std::string step = " category=step colour=FFC7C7C7 payload=none\n";
    EXPECT_EQ(without_registrations(heard()), "push 0 [spng] A::scope" + step + "push 1 [spng] A::push" +
                                                  step + "pop 1\npop 0\nmark 0 [spng] A::outside" + step);
}

} // namespace
