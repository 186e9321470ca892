#include "spng/io/crc32.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

namespace {

std::uint32_t checksum(std::string_view text, std::uint32_t before = 0) {
    return spng::crc32(before, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

} // namespace

TEST(Crc32, gives_published_values) {
    EXPECT_EQ(checksum(""), 0u);
    EXPECT_EQ(checksum("123456789"), 0xCBF43926u); // the check value of CRC-32/ISO-HDLC
    EXPECT_EQ(checksum("The quick brown fox jumps over the lazy dog"), 0x414FA339u);
}

TEST(Crc32, goes_on_where_it_stopped) {
    constexpr std::string_view text = "The quick brown fox jumps over the lazy dog";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        EXPECT_EQ(checksum(text.substr(cut), checksum(text.substr(0, cut))), 0x414FA339u) << cut;
    }
}
