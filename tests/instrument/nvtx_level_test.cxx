// SPDX-License-Identifier: Apache-2.0
// The level as users give it, and the ranges of the library that a tool receives: ranges of operators and
// of a whole job. The tool is nvtx_listener.cxx; it is loaded into another process of this very program.

#include "spng/instrument/nvtx_level.h"

#include "WireCellSpng/TorchnvTools.h"
#include "compiler.h"
#include "spng/core/error.h"
#include "spng/instrument/user_timer/scoped_timer.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace spng;

TEST(NvtxLevel, OtherTextsAreRejected) {
    for (const char* text : {"", "5", "-1", "steps", "2 "}) {
        try {
            instrument::set_nvtx_level(text, "--nvtx-level");
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::Usage);
            EXPECT_EQ(error.text().where, "--nvtx-level");
        }
    }
}

#if SPNG_NVTX_IS_ON

TEST(NvtxLevel, IsThatOfTheProcess) {
    const auto before = nvtx::level_in_force.load();
    instrument::set_nvtx_level("1", "test");
    EXPECT_TRUE(nvtx::is_on(nvtx::Level::Nodes));
    EXPECT_FALSE(nvtx::is_on(nvtx::Level::Steps));
    nvtx::set_level(before);
}

/// Run by the test below in a process of its own.
TEST(NvtxLevel, DISABLED_OperatorsForTheListener) {
    const c10::InferenceMode no_gradients;
    instrument::apply_nvtx_level_of_environment();
    const at::Tensor ones = at::ones({3});
    std::puts("begin");
    std::fflush(stdout);
    at::add(ones, ones);
    std::thread([&] { at::outer(ones, ones); }).join();
    nvtx::set_level(nvtx::Level::Steps);
    at::add(ones, ones);
    nvtx::set_level(nvtx::Level::Torch);
    ones.view({1, 3});
    std::puts("end");
    std::fflush(stdout);
}

/// Run by the test below in a process of its own.
TEST(NvtxLevel, DISABLED_TimersForTheListener) {
    std::puts("begin");
    std::fflush(stdout);
    {
        const ScopedTimer outer("Outer", {.print = false, .use_nvtx = true, .colour = 0xFFFFFF00});
        const ScopedTimer inactive("Inactive", {.active = false, .use_nvtx = true});
        const ScopedTimer silent("Silent", {.print = false});
        const ScopedTimer inner("Inner", {.print = false, .use_nvtx = true});
    }
    std::puts("end");
    std::fflush(stdout);
}

class HeardInAProcess : public testing::Test {
protected:
    void SetUp() override {
        if (compiler::listener().empty()) {
            GTEST_SKIP() << "no compiler, no checkout or no NVTX headers";
        }
    }

    /// Between the lines "begin" and "end".
    std::string heard(const char* level, const std::string& test) const {
        const auto self = std::filesystem::read_symlink("/proc/self/exe");
        const auto outcome = compiler::run(
            "env -u GTEST_TOTAL_SHARDS -u GTEST_SHARD_INDEX NVTX_INJECTION64_PATH=" + compiler::listener() +
            " SPNG_NVTX_LEVEL=" + level + " " + compiler::quoted(self) +
            " --gtest_also_run_disabled_tests"
            " --gtest_filter=NvtxLevel.DISABLED_" +
            test + "ForTheListener");
        EXPECT_EQ(outcome.status, 0) << outcome.output;
        const auto begin = outcome.output.find("begin\n") + 6;
        return outcome.output.substr(begin, outcome.output.find("end\n") - begin);
    }
};

TEST_F(HeardInAProcess, OperatorsAtLevelFour) {
    const auto range = [](int depth, const char* name) {
        return "push " + std::to_string(depth) + " [spng.torch] aten::" + name +
               " category=torch colour=FFE377C2 payload=none\n";
    };
    const std::string text = heard("4", "Operators");
    EXPECT_EQ(text.rfind("register aten::add\n" + range(0, "add") + "pop 0\n", 0), 0u) << text;
    const auto outer = text.find("register aten::outer\n" + range(0, "outer"));
    ASSERT_NE(outer, std::string::npos) << "operators of other threads too\n" << text;
    EXPECT_NE(text.find(range(1, "mul"), outer), std::string::npos)
        << "nested in the operator that calls it\n"
        << text;
    EXPECT_EQ(text.find("aten::add", outer), std::string::npos) << "the level had sunk";
    EXPECT_TRUE(text.ends_with("pop 0\n" + range(0, "view") + "pop 0\n")) << text;
}

TEST_F(HeardInAProcess, NoOperatorsBelow) {
    EXPECT_EQ(heard("3", "Operators"), "");
}

TEST_F(HeardInAProcess, TimersAreRangesWhenAsked) {
    EXPECT_EQ(heard("2", "Timers"), "register Outer\n"
                                    "push 0 [spng] Outer category=step colour=FFFFFF00 payload=none\n"
                                    "register Inner\n"
                                    "push 1 [spng] Inner category=step colour=FFC7C7C7 payload=none\n"
                                    "pop 1\npop 0\n");
}

#else

TEST(NvtxLevel, WithoutNvtxSaysHowToGetIt) {
    EXPECT_NO_THROW(instrument::set_nvtx_level("0", "test"));
    try {
        instrument::set_nvtx_level("1", "test");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("--with-nvtx"), std::string::npos);
    }
}

#endif

} // namespace
