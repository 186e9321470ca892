// SPDX-License-Identifier: Apache-2.0
// A timer of a scope: its measurements, its text, its callbacks, nesting, and when it waits.

#include "spng/instrument/user_timer/scoped_timer.h"

#include "fake_cuda_runtime.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <gtest/gtest.h>

#include <chrono>
#include <regex>
#include <thread>

namespace {

using namespace spng;
using namespace std::chrono_literals;

class Timed : public testing::Test {
protected:
    /// Options that print into m_text.
    ScopedTimerOptions options() {
        ScopedTimerOptions options;
        options.write = [this](const std::string& text) { m_text += text; };
        return options;
    }

    /// Return the printed text with every time replaced by "T ms".
    std::string printed() const {
        return std::regex_replace(m_text, std::regex("[0-9]+\\.[0-9]+ ms"), "T ms");
    }

    const c10::InferenceMode m_no_gradients;
    std::string m_text;
};

TEST_F(Timed, PrintsTheTimeOfTheHost) {
    const auto before = std::chrono::steady_clock::now();
    {
        ScopedTimer timer("Demo", options());
        std::this_thread::sleep_for(12ms);
    }
    const std::chrono::duration<double, std::milli> around = std::chrono::steady_clock::now() - before;
    ASSERT_EQ(printed(), "Demo took T ms\n");
    const double shown = std::stod(m_text.substr(m_text.find("took ") + 5));
    EXPECT_GE(shown, 12);
    EXPECT_LE(shown, around.count() + 0.005);
}

TEST_F(Timed, NestsWithIndent) {
    std::vector<ScopedTimerResult> results;
    auto collecting = options();
    collecting.collect = [&](const ScopedTimerResult& result) { results.push_back(result); };
    {
        ScopedTimer outer("outer", collecting);
        {
            ScopedTimer middle("middle", collecting);
            auto inactive = collecting;
            inactive.active = false;
            ScopedTimer none("none", inactive);
            ScopedTimer inner("inner", collecting);
        }
        ScopedTimer second("second", collecting);
    }
    EXPECT_EQ(printed(), "        inner took T ms\n"
                         "    middle took T ms\n"
                         "    second took T ms\n"
                         "outer took T ms\n");
    ASSERT_EQ(results.size(), 4u);
    EXPECT_EQ(results[0].name, "inner");
    EXPECT_EQ(results[0].depth, 2);
    EXPECT_EQ(results[3].depth, 0);
    EXPECT_LE(results[0].elapsed, results[1].elapsed);
    EXPECT_LE(results[1].elapsed + results[2].elapsed, results[3].elapsed);
}

TEST_F(Timed, StopsBeforeTheEndOfTheScope) {
    ScopedTimer timer("Demo", options());
    const double elapsed = timer.stop().elapsed;
    std::this_thread::sleep_for(2ms);
    EXPECT_EQ(timer.stop().elapsed, elapsed);
    EXPECT_EQ(printed(), "Demo took T ms\n");
}

TEST_F(Timed, InactiveDoesNothing) {
    auto inactive = options();
    inactive.active = false;
    inactive.filter = timing_all;
    inactive.collect = [](const ScopedTimerResult&) { FAIL(); };
    ScopedTimer timer("Demo", inactive);
    EXPECT_EQ(timer.stop().elapsed, 0);
    EXPECT_EQ(m_text, "");
}

TEST_F(Timed, ShowsActivitiesBeforeItsOwnTime) {
    at::Tensor target = at::empty({5});
    auto with_activities = options();
    with_activities.filter = timing_memset | timing_memcpy;
    {
        ScopedTimer outer("outer", options());
        ScopedTimer timer("Demo", with_activities);
        target.zero_();
        target.add(1);
        target.zero_();
        const auto& result = timer.stop();
        ASSERT_EQ(result.activities.size(), 2u);
        EXPECT_LE(result.activities[0].elapsed + result.activities[1].elapsed, result.elapsed);
        EXPECT_LE(result.activities[0].begin, result.activities[1].begin);
    }
    const std::string text = printed();
    EXPECT_NE(text.find("    Timeline:\n"), std::string::npos) << text;
    EXPECT_NE(text.find("| 2     | memset\n"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("    Demo took T ms\nouter took T ms\n")) << text;
}

TEST_F(Timed, ReportsThroughACallback) {
    at::Tensor target = at::empty({5});
    auto reporting = options();
    reporting.filter = timing_all;
    reporting.report = [this](const std::vector<TimingResult>& results, const std::string& indent) {
        m_text += indent + std::to_string(results.size()) + " activities\n";
    };
    ScopedTimer outer("outer", options());
    {
        ScopedTimer timer("Demo", reporting);
        target.zero_();
    }
    EXPECT_EQ(printed(), "    1 activities\n    Demo took T ms\n");
}

TEST_F(Timed, WaitsForTheDeviceOnlyWhenAsked) {
    const fake_cuda::Guard runtime;
    auto on_device = options();
    on_device.device = c10::Device(fake_device::type, 0);
    { ScopedTimer timer("Demo", on_device); }
    EXPECT_EQ(fake_device::state().device_waits, 0);
    on_device.synchronize = true;
    {
        ScopedTimer timer("Demo", on_device);
        EXPECT_EQ(fake_device::state().device_waits, 1);
    }
    EXPECT_EQ(fake_device::state().device_waits, 2);
    fake_cuda::state().capturing = true;
    { ScopedTimer timer("Demo", on_device); }
    EXPECT_EQ(fake_device::state().device_waits, 2) << "nothing may wait while a stream is captured";
}

} // namespace
