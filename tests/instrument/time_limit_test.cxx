// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/time_limit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

namespace spng {
namespace {

using namespace std::chrono_literals;

std::promise<std::string> reported;
std::atomic<int> reports{0};

class TimeLimitTest : public testing::Test {
protected:
    TimeLimitTest() {
        reported = {};
        reports = 0;
        set_time_limit_handler([](const Error& report) {
            if (++reports == 1) {
                reported.set_value(report.what());
            }
        });
    }
    ~TimeLimitTest() override {
        set_time_limit_handler([](const Error&) {});
    }

    const Error m_report{ErrorKind::Model, {.what = "the network does not return"}};
};

TEST_F(TimeLimitTest, ReportsACallThatDoesNotReturn) {
    TimeLimit limit(1ms, m_report);
    const TimeLimit::Call call(limit);
    EXPECT_EQ(reported.get_future().get(), "error: the network does not return");
}

TEST_F(TimeLimitTest, ReportsEachCallOnce) {
    TimeLimit limit(1ms, m_report);
    {
        const TimeLimit::Call call(limit);
        reported.get_future().get();
        const TimeLimit::Call another(limit);
        while (reports < 2) {
            std::this_thread::yield();
        }
    }
    EXPECT_EQ(reports, 2);
}

TEST_F(TimeLimitTest, CallsThatReturnAreNotReported) {
    TimeLimit limit(1h, m_report);
    for (int i = 0; i < 1000; ++i) {
        const TimeLimit::Call call(limit);
    }
    EXPECT_EQ(reports, 0);
}

TEST_F(TimeLimitTest, ZeroIsNoLimit) {
    TimeLimit limit(0ms, m_report);
    const TimeLimit::Call call(limit);
    EXPECT_EQ(reports, 0);
}

} // namespace
} // namespace spng
