// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/address.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace spng::kserve {
namespace {

TEST(KserveAddress, ReadsItsForms) {
    EXPECT_EQ(parse_address("unix:/run/a.sock", "x").text(), "unix:/run/a.sock");
    EXPECT_EQ(parse_address("http://unix:a", "x").path, "a");
    EXPECT_EQ(parse_address("grpc://unix:/a", "x").text(), "grpc://unix:/a");
    EXPECT_EQ(parse_address("localhost:8000", "x").text(), "http://localhost:8000");
    EXPECT_EQ(parse_address(":8000", "x").text(), "http://127.0.0.1:8000");
    EXPECT_EQ(parse_address("grpc://[::1]:1", "x").text(), "grpc://[::1]:1");
    EXPECT_EQ(parse_address("grpc://[::1]:1", "x").host, "::1");
}

TEST(KserveAddress, KnowsWhatOtherMachinesReach) {
    for (const char* local : {"unix:a", ":1", "localhost:1", "127.0.0.5:1", "[::1]:1"}) {
        EXPECT_TRUE(parse_address(local, "x").is_local()) << local;
    }
    for (const char* open : {"0.0.0.0:1", "[::]:1", "example.org:1", "192.168.0.1:1"}) {
        EXPECT_FALSE(parse_address(open, "x").is_local()) << open;
    }
}

TEST(KserveAddress, RejectsOthers) {
    const std::string long_path = "unix:" + std::string(108, 'x');
    for (const std::string& wrong :
         {std::string(), std::string("unix:"), std::string("host"), std::string("host:"),
          std::string("host:99999"), std::string("host:-1"), std::string("https://a:1"), std::string("a b:1"),
          std::string("a/b:1"), std::string("[]:1"), long_path}) {
        EXPECT_THROW(parse_address(wrong, "--serve"), Error) << wrong;
    }
}

} // namespace
} // namespace spng::kserve
