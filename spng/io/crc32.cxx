#include "spng/io/crc32.h"

#include <array>

namespace spng {

namespace {

// "Slicing by eight": table k advances a byte over k further zero bytes, so that eight bytes are folded with
// independent look-ups instead of a chain of eight.
constexpr int slices = 8;
using Tables = std::array<std::array<std::uint32_t, 256>, slices>;

constexpr Tables make_tables() {
    Tables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t remainder = byte;
        for (int bit = 0; bit < 8; ++bit) {
            remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? 0xEDB88320u : 0u);
        }
        tables[0][byte] = remainder;
    }
    for (int slice = 1; slice < slices; ++slice) {
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t shorter = tables[slice - 1][byte];
            tables[slice][byte] = (shorter >> 8) ^ tables[0][shorter & 0xFF];
        }
    }
    return tables;
}

constexpr Tables tables = make_tables();

std::uint32_t little_endian(const std::uint8_t* bytes) {
    return std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16 |
           std::uint32_t{bytes[3]} << 24;
}

} // namespace

std::uint32_t crc32(std::uint32_t checksum, std::span<const std::uint8_t> bytes) {
    std::uint32_t state = ~checksum;
    std::size_t at = 0;
    for (; at + slices <= bytes.size(); at += slices) {
        const std::uint32_t low = state ^ little_endian(bytes.data() + at);
        const std::uint32_t high = little_endian(bytes.data() + at + 4);
        state = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^ tables[5][(low >> 16) & 0xFF] ^
                tables[4][low >> 24] ^ tables[3][high & 0xFF] ^ tables[2][(high >> 8) & 0xFF] ^
                tables[1][(high >> 16) & 0xFF] ^ tables[0][high >> 24];
    }
    for (; at < bytes.size(); ++at) {
        state = (state >> 8) ^ tables[0][(state ^ bytes[at]) & 0xFF];
    }
    return ~state;
}

} // namespace spng
