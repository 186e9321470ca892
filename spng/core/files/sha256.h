// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace spng {

/// SHA-256 of bytes that arrive in pieces (FIPS 180-4).
class Sha256 {
public:
    void add(std::span<const std::uint8_t> bytes);

    /// Return the checksum of all bytes so far as 64 hexadecimal digits. Call it once, after the last add().
    std::string digits();

private:
    static constexpr std::size_t block_bytes = 64;

    void add_block(const std::uint8_t* block);

    std::array<std::uint32_t, 8> m_state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, block_bytes> m_rest{}; ///< bytes that do not fill a block yet
    std::uint64_t m_bytes = 0;
};

/// Return the SHA-256 of a text as 64 hexadecimal digits.
std::string sha256(std::string_view text);

} // namespace spng
