// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/jsonnet_bytes.h"

#include "spng/core/error.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using spng::with_bytes;
using spng::with_characters_for_bytes;
using spng::test::SnippetFile;

TEST(JsonnetBytes, EveryTextComesBack) {
    for (const std::string text :
         {"", "plain", "d\xe9/o.npz", "\xe9", "\xc3\xa9", "\xc3", "\xf0\x9f\x98\x80", "\xed\xb2\x80",
          "\xee\xbe\x80", "a\xee\xbf\xbf\xee", "\x80\xbf\xfe\xff", "\xee\xbe\xe9"}) {
        EXPECT_EQ(with_bytes(with_characters_for_bytes(text)), text);
    }
    EXPECT_EQ(with_characters_for_bytes("\xc3\xa9"), "\xc3\xa9");
    EXPECT_EQ(with_characters_for_bytes("\xe9"), "\xee\xbf\xa9"); // U+EFE9
    EXPECT_EQ(with_bytes("\xee\xbd\xbf"), "\xee\xbd\xbf");        // U+EF7F
}

TEST(JsonnetBytes, ArgumentsKeepTheBytesOfNames) {
    using Kind = spng::JsonnetBinding::Kind;
    const SnippetFile file(
        "function(name, code) { [name]: [name + '/o.npz', code, std.length(name), std.extVar('v')] }");
    const auto result = spng::evaluate_jsonnet(file.path(),
                                               {{Kind::argument_text, "name", "d\xe9"},
                                                {Kind::argument_code, "code", "'\xff'"},
                                                {Kind::external_text, "v", "\xee\xbe\x80"}},
                                               {});
    EXPECT_EQ(result, (nlohmann::json{{"d\xe9", {"d\xe9/o.npz", "\xff", 2, "\xee\xbe\x80"}}}));
}

TEST(JsonnetBytes, MessagesKeepThem) {
    const SnippetFile file("function(name) error 'no ' + name");
    try {
        spng::evaluate_jsonnet(file.path(), {{spng::JsonnetBinding::Kind::argument_text, "name", "d\xe9"}},
                               {});
        FAIL() << "an error";
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.text().what, "the configuration does not evaluate: no d\\xe9");
    }
}

} // namespace
