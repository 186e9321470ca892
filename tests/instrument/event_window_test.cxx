// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/event_window.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

#include <string>

namespace spng::instrument {
namespace {

/// One letter per event: . left out, w warm-up, A active.
std::string captures(const EventWindow& window, std::uint64_t events) {
    std::string letters;
    for (std::uint64_t event = 0; event < events; ++event) {
        letters += ".wA"[static_cast<int>(window.capture(event))];
    }
    return letters;
}

std::string rejected(EventWindow (*make)(const std::string&, const std::string&), const std::string& text) {
    try {
        make(text, "--option");
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        EXPECT_EQ(error.text().where, "--option");
        return error.text().seen;
    }
    return "accepted";
}

TEST(EventWindow, EverythingByDefault) {
    EXPECT_TRUE(EventWindow{}.is_everything());
    EXPECT_EQ(captures({}, 4), "AAAA");
}

TEST(EventWindow, Range) {
    EXPECT_EQ(captures(EventWindow::from_range("2-4", ""), 7), "..AAA..");
    EXPECT_EQ(captures(EventWindow::from_range("0", ""), 3), "A..");
    EXPECT_EQ(captures(EventWindow::from_range("3-", ""), 6), "...AAA");
    EXPECT_EQ(EventWindow::from_range("3-", "").capture(999'999'999'999), Capture::active);
    EXPECT_FALSE(EventWindow::from_range("0-", "").is_everything());
}

TEST(EventWindow, Schedule) {
    EXPECT_EQ(captures(EventWindow::from_schedule("wait=1,warmup=1,active=2,repeat=2", ""), 10),
              ".wAA.wAA..");
    EXPECT_EQ(captures(EventWindow::from_schedule("active=1,wait=2", ""), 7), "..A..A.");
    EXPECT_EQ(captures(EventWindow::from_schedule("active=3,repeat=1", ""), 5), "AAA..");
}

TEST(EventWindow, WrongTexts) {
    for (const std::string text : {"", "-", "-3", "4-2", "1-2-3", "a", "1-b", " 1", "99999999999999999999"}) {
        EXPECT_EQ(rejected(&EventWindow::from_range, text), "'" + text + "'");
    }
    for (const std::string text : {"", "active", "active=", "active=0", "wait=1", "active=1,", "active=-1",
                                   "active=1;wait=1", "steps=1,active=1"}) {
        EXPECT_EQ(rejected(&EventWindow::from_schedule, text), "'" + text + "'");
    }
}

} // namespace
} // namespace spng::instrument
