// SPDX-License-Identifier: Apache-2.0
#include "spng/core/printable.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(Printable, OrdinaryTextIsUnchanged) {
    const std::string text = "event 3,\tτ = 1.1 µs — “gauss”\nnext line 日本";
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, ControlCharactersAreVisible) {
    EXPECT_EQ(printable("a\x1b]0;title\x07z"), "a\\x1b]0;title\\x07z");
    EXPECT_EQ(printable(std::string_view("\r\0\x7f", 3)), "\\x0d\\x00\\x7f");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "\\xc2\\x9b31m")
        << "the C1 control sequence introducer";
    EXPECT_EQ(printable("abc\xe2\x80\xae"
                        "fdp.exe"),
              "abc\\xe2\\x80\\xae"
              "fdp.exe")
        << "the override of the direction";
    EXPECT_EQ(printable("cut \xe2\x80"), "cut \\xe2\\x80");
}

TEST(Printable, LongTextLosesItsMiddle) {
    const std::string text = std::string(1000, 'a') + std::string(1000, 'z');
    EXPECT_EQ(shortened(text, 10), "aaaaa... (2000 bytes) ...zzzzz");
    EXPECT_EQ(shortened(text, 2000), text);
    EXPECT_EQ(shortened("µµµµµµ", 6), "µ... (12 bytes) ...µ") << "no half characters";
}

} // namespace
} // namespace spng
