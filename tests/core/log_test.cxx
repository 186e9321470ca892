// SPDX-License-Identifier: Apache-2.0
// Which lines are written, and in which format.

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace {

namespace log = spng::log;

class Log : public testing::Test {
protected:
    void SetUp() override { log::reset(); }
    void TearDown() override {
        log::reset();
        std::filesystem::remove(m_file);
    }
    std::vector<std::string> lines() const {
        std::ifstream stream(m_file);
        std::vector<std::string> all;
        for (std::string line; std::getline(stream, line);) {
            all.push_back(line);
        }
        return all;
    }
    std::string m_file =
        (std::filesystem::temp_directory_path() / ("spng_log_test_" + std::to_string(getpid()))).string();
};

TEST_F(Log, LineHasTheFormatOfWireCell) {
    log::add_sink(m_file);
    log::info("SPNGDecon:induction", "ready");
    ASSERT_EQ(lines().size(), 1U);
    EXPECT_TRUE(std::regex_match(
        lines()[0], std::regex(R"(\[\d\d:\d\d:\d\d\.\d{3}\] I \[ SPNGDecon:induction \] ready)")))
        << lines()[0];
}

TEST_F(Log, HeldFileGetsItsLinesWhenItIsOpened) {
    log::hold_files();
    log::add_sink(m_file + ":debug");
    log::info("any", "early");
    EXPECT_FALSE(std::filesystem::exists(m_file));
    EXPECT_EQ(log::held_files(), std::vector<std::string>{m_file});
    log::open_held_files();
    log::info("any", "late");
    EXPECT_TRUE(log::held_files().empty());
    ASSERT_EQ(lines().size(), 2U);
    EXPECT_NE(lines()[0].find("early"), std::string::npos);
    EXPECT_NE(lines()[1].find("late"), std::string::npos);
}

TEST_F(Log, HeldFileThatExistsIsNotTouchedWhenItIsGivenUp) {
    std::ofstream(m_file) << "data";
    log::hold_files();
    log::add_sink(m_file);
    log::warn("any", "a line");
    testing::internal::CaptureStderr();
    log::give_up_held_files();
    EXPECT_NE(testing::internal::GetCapturedStderr().find(m_file), std::string::npos);
    EXPECT_EQ(lines(), std::vector<std::string>{"data"});
}

TEST_F(Log, HeldFileThatDoesNotExistIsWrittenWhenItIsGivenUp) {
    log::hold_files();
    log::add_sink(m_file);
    log::warn("any", "a line");
    log::give_up_held_files();
    EXPECT_EQ(lines().size(), 1U);
}

TEST_F(Log, DefaultWritesWarningsOnly) {
    EXPECT_FALSE(log::enabled("any", log::Level::info));
    EXPECT_TRUE(log::enabled("any", log::Level::warn));
}

TEST_F(Log, TextIsNotComputedWhenOff) {
    log::add_sink(m_file + ":info");
    int calls = 0;
    log::debug("any", [&] { return std::to_string(++calls); });
    EXPECT_EQ(calls, 0);
    log::info("any", [&] { return std::to_string(++calls); });
    EXPECT_EQ(calls, 1);
}

TEST_F(Log, LoggerLevelAppliesToItsInstances) {
    log::add_sink(m_file);
    log::set_level("SPNGDecon:debug");
    log::set_level("SPNGDecon:collection:error");
    EXPECT_TRUE(log::enabled("SPNGDecon:induction", log::Level::debug));
    EXPECT_FALSE(log::enabled("SPNGDecon:collection", log::Level::warn));
    EXPECT_FALSE(log::enabled("SPNGDeconvolve", log::Level::debug));
}

TEST_F(Log, SinkLevelLimitsTheLinesOfLoggers) {
    log::set_level("debug");
    log::add_sink(m_file + ":error");
    log::warn("any", "no");
    log::error("any", "yes");
    ASSERT_EQ(lines().size(), 1U);
    EXPECT_NE(lines()[0].find("yes"), std::string::npos);
}

TEST_F(Log, WrongLevelNamesTheNearest) {
    for (const char* wrong : {"debgu", "SPNGDecon:debgu"}) {
        try {
            log::set_level(wrong);
            FAIL() << wrong;
        } catch (const spng::Error& error) {
            EXPECT_EQ(error.exit_status(), 2);
            EXPECT_NE(error.text().hint.find("'debug'"), std::string::npos);
        }
    }
    EXPECT_THROW(log::add_sink("stdout:debgu"), spng::Error);
    EXPECT_THROW(log::add_sink("/dev/null/file.log"), spng::Error);
}

TEST_F(Log, LinesOfSeveralThreadsStayWhole) {
    log::add_sink(m_file);
    const std::string text(200, 'x');
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int j = 0; j < 100; ++j) {
                log::info("thread", text);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    const auto written = lines();
    ASSERT_EQ(written.size(), 400U);
    for (const auto& line : written) {
        EXPECT_EQ(line.substr(line.size() - text.size() - 2), "] " + text);
    }
}

} // namespace
