// SPDX-License-Identifier: Apache-2.0
// Compare the checksum with the examples of FIPS 180, and in one piece with several pieces.

#include "spng/core/files/sha256.h"

#include <gtest/gtest.h>

namespace {

TEST(Sha256, ExamplesOfTheStandard) {
    EXPECT_EQ(spng::sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(spng::sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(spng::sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(spng::sha256(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/// The lengths are around the block of 64 bytes, so that padding takes one or two blocks.
TEST(Sha256, PiecesGiveTheSameDigestAsTheWhole) {
    for (std::size_t length = 0; length < 200; ++length) {
        const std::string text(length, 'x');
        for (const std::size_t piece : {1U, 7U, 63U, 64U, 65U}) {
            spng::Sha256 checksum;
            for (std::size_t at = 0; at < length; at += piece) {
                const std::string part = text.substr(at, piece);
                checksum.add({reinterpret_cast<const std::uint8_t*>(part.data()), part.size()});
            }
            ASSERT_EQ(checksum.digits(), spng::sha256(text)) << length << " bytes by " << piece;
        }
    }
}

} // namespace
