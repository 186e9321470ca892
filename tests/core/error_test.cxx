// SPDX-License-Identifier: Apache-2.0
#include "spng/core/error.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace spng::test {
namespace {

TEST(ErrorBlock, HasNoControlCharactersOfTheInput) {
    Error error(ErrorKind::Input,
                {.what = "wrong\x1b[31m", .where = "a\rb", .seen = "\x7f", .expected = "one\ntwo\tthree"});
    error.add_where(std::string("nul\0", 4));
    EXPECT_EQ(error.text().what, "wrong\\x1b[31m");
    EXPECT_EQ(error.text().where, "nul\\x00, a\\x0db");
    EXPECT_EQ(error.text().seen, "\\x7f");
    EXPECT_EQ(error.text().expected, "one\ntwo\tthree");
    EXPECT_EQ(std::string(error.what()), "error: wrong\\x1b[31m\n  where:    nul\\x00, a\\x0db\n"
                                         "  seen:     \\x7f\n  expected: one\n            two\tthree");
}

TEST(ErrorBlock, NamesWithNewlinesFakeNoLines) {
    const Error error(ErrorKind::Input, {.what = "bad name\nerror: other",
                                         .where = "a\n  hint: run this\n              deeper",
                                         .seen = {},
                                         .expected = {},
                                         .hint = {}});
    EXPECT_STREQ(error.what(), "error: bad name\n            error: other\n  where:    a\n"
                               "              hint: run this\n              deeper");
    EXPECT_EQ(error.text().what, "bad name\nerror: other");
}

TEST(ErrorBlock, KeepsUtf8AndEscapesOtherBytes) {
    const auto seen = [](const std::string& text) {
        return Error(ErrorKind::Input, {.what = "wrong", .seen = text}).text().seen;
    };
    for (const std::string text : {"µs", "–", "😀", "\U0010FFFF"}) {
        EXPECT_EQ(seen(text), text);
    }
    EXPECT_EQ(seen("a\xff\xc3"), "a\\xff\\xc3");                 // no first byte; cut short
    EXPECT_EQ(seen("\xc0\x80"), "\\xc0\\x80");                   // a longer form of 0
    EXPECT_EQ(seen("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // half of a pair of UTF-16
    EXPECT_EQ(seen("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // above the last character
    EXPECT_EQ(seen("\xe2\x28\xa1"), "\\xe2(\\xa1");
    EXPECT_EQ(seen("\xc2\x9b"
                   "31m"),
              "\\xc2\\x9b31m"); // a control character of one byte in Latin-1
    EXPECT_NO_THROW(nlohmann::json(seen("\x80\xbf\xfe")).dump());
}

TEST(ErrorBlock, ShortensLongFields) {
    const std::string name(60000, 'x');
    const Error error(ErrorKind::Input, {.what = "no such file '" + name + "'", .seen = name});
    EXPECT_LT(std::string(error.what()).size(), 10000U);
    EXPECT_EQ(error.text().seen, name) << "programs get the whole value";
}

} // namespace
} // namespace spng::test
