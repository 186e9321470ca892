// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/mutate/bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace spng::fuzz {
namespace {

constexpr std::array<std::uint64_t, 14> limits{0,
                                               1,
                                               0x7F,
                                               0x80,
                                               0xFF,
                                               0x7FFF,
                                               0x8000,
                                               0xFFFF,
                                               0x7FFFFFFF,
                                               0x80000000,
                                               0xFFFFFFFF,
                                               0x7FFFFFFFFFFFFFFF,
                                               std::uint64_t{1} << 63,
                                               ~std::uint64_t{0}};

void set_integer(std::string& bytes, Random& random) {
    const std::size_t size = std::size_t{1} << random.below(4);
    if (bytes.size() < size) {
        return;
    }
    const std::size_t at = random.below(bytes.size() - size + 1);
    const std::uint64_t value = random.pick(limits) + (random.one_in(4) ? random.below(3) - 1 : 0);
    const bool big_endian = random.one_in(3);
    for (std::size_t i = 0; i < size; ++i) {
        bytes[at + (big_endian ? size - 1 - i : i)] = static_cast<char>(value >> (8 * i));
    }
}

std::string block(const std::string& from, Random& random) {
    const std::size_t at = random.below(from.size());
    const std::size_t longest = random.one_in(4) ? from.size() : 32;
    return from.substr(at, 1 + random.below(std::min(longest, from.size() - at)));
}

void change(std::string& bytes, const std::vector<std::string>& seeds,
            std::span<const std::string_view> words, Random& random) {
    const std::size_t at = random.below(bytes.size() + 1);
    switch (random.below(words.empty() ? 8 : 10)) {
    case 0:
        bytes = with_flipped_bit(bytes, random.below(8 * bytes.size()));
        break;
    case 1:
        if (!bytes.empty()) {
            bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
        }
        break;
    case 2:
        set_integer(bytes, random);
        break;
    case 3:
        bytes.erase(at, 1 + random.below(random.one_in(4) ? bytes.size() : 16));
        break;
    case 4:
        bytes.insert(at, block(bytes, random));
        break;
    case 5: {
        const std::string moved = block(bytes, random);
        bytes.replace(at, std::min(moved.size(), bytes.size() - at), moved);
        break;
    }
    case 6: {
        const std::string& other = random.pick(seeds);
        bytes = bytes.substr(0, at) + other.substr(random.below(other.size() + 1));
        break;
    }
    case 7:
        bytes.insert(at, std::string(1 + random.below(64), static_cast<char>(random.below(256))));
        break;
    case 8:
        bytes.insert(at, random.pick(words));
        break;
    default: {
        const std::string_view word = random.pick(words);
        bytes.replace(at, std::min(word.size(), bytes.size() - at), word);
        break;
    }
    }
}

} // namespace

std::string mutate_bytes(std::string bytes, const std::vector<std::string>& seeds,
                         std::span<const std::string_view> words, Random& random) {
    for (std::size_t i = std::size_t{1} << random.below(4); i > 0; --i) {
        change(bytes, seeds, words, random);
    }
    bytes.resize(std::min(bytes.size(), max_input_bytes));
    return bytes;
}

std::string cut(const std::string& bytes, std::size_t part) {
    return bytes.substr(0, bytes.size() * part / 64);
}

std::string with_flipped_bit(std::string bytes, std::size_t bit) {
    if (!bytes.empty()) {
        bytes[bit / 8] ^= static_cast<char>(1U << bit % 8);
    }
    return bytes;
}

} // namespace spng::fuzz
