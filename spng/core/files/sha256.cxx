// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/sha256.h"

#include <algorithm>
#include <bit>

namespace spng {
namespace {

// FIPS 180-4, section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64
// primes.
constexpr std::array<std::uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
           std::uint32_t{bytes[3]};
}

} // namespace

void Sha256::add_block(const std::uint8_t* block) {
    std::array<std::uint32_t, 64> schedule;
    for (std::size_t i = 0; i < 16; ++i) {
        schedule[i] = big_endian(block + 4 * i);
    }
    for (std::size_t i = 16; i < schedule.size(); ++i) {
        const std::uint32_t early = schedule[i - 15];
        const std::uint32_t late = schedule[i - 2];
        schedule[i] = schedule[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) +
                      schedule[i - 7] + (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = m_state;
    for (std::size_t i = 0; i < schedule.size(); ++i) {
        const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                    ((e & f) ^ (~e & g)) + round_constants[i] + schedule[i];
        const std::uint32_t second =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + first;
        d = c;
        c = b;
        b = a;
        a = first + second;
    }
    const std::array<std::uint32_t, 8> change{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < change.size(); ++i) {
        m_state[i] += change[i];
    }
}

void Sha256::add(std::span<const std::uint8_t> bytes) {
    const std::size_t waiting = m_bytes % block_bytes;
    m_bytes += bytes.size();
    if (waiting > 0) {
        const std::size_t taken = std::min(block_bytes - waiting, bytes.size());
        std::copy_n(bytes.begin(), taken, m_rest.begin() + waiting);
        bytes = bytes.subspan(taken);
        if (waiting + taken < block_bytes) {
            return;
        }
        add_block(m_rest.data());
    }
    for (; bytes.size() >= block_bytes; bytes = bytes.subspan(block_bytes)) {
        add_block(bytes.data());
    }
    std::copy(bytes.begin(), bytes.end(), m_rest.begin());
}

std::string Sha256::digits() {
    // Padding: one bit, zeros, and the length in bits as a 64-bit big-endian integer at the end of a block.
    const std::uint64_t bits = 8 * m_bytes;
    const std::size_t used = m_bytes % block_bytes;
    std::array<std::uint8_t, 2 * block_bytes> padding{0x80};
    const std::size_t end = (used < block_bytes - 8 ? 1 : 2) * block_bytes - used;
    for (std::size_t i = 0; i < 8; ++i) {
        padding[end - 1 - i] = static_cast<std::uint8_t>(bits >> 8 * i);
    }
    add(std::span(padding).first(end));
    constexpr const char* digit = "0123456789abcdef";
    std::string text;
    for (const std::uint32_t word : m_state) {
        for (int shift = 28; shift >= 0; shift -= 4) {
            text += digit[word >> shift & 0xF];
        }
    }
    return text;
}

std::string sha256(std::string_view text) {
    Sha256 checksum;
    checksum.add({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return checksum.digits();
}

} // namespace spng
