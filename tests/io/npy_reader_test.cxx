// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/npy_reader.h"

#include "spng/core/error.h"
#include "tests/io/archive_fixture.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using spng::test::bytes_of;
using spng::test::npy_bytes;

/// A member whose content is a string. Remembers the largest request.
class TextSource final : public spng::ByteSource {
public:
    TextSource(std::string text, bool declares) : m_text(std::move(text)), m_declares(declares) {}

    std::size_t read(void* to, std::size_t bytes) override {
        largest_request = std::max(largest_request, bytes);
        const std::size_t count = std::min(bytes, m_text.size() - m_at);
        std::copy_n(m_text.data() + m_at, count, static_cast<char*>(to));
        m_at += count;
        return count;
    }
    std::optional<std::uint64_t> declared_bytes() const override {
        return m_declares ? std::optional<std::uint64_t>(m_text.size()) : std::nullopt;
    }
    std::string where() const override { return "file.npz, member a.npy"; }

    std::size_t largest_request = 0;

private:
    std::string m_text;
    std::size_t m_at = 0;
    bool m_declares;
};

at::Tensor read(const std::string& text, bool declares = true) {
    TextSource source(text, declares);
    return spng::NpyReader().read(source);
}

std::string error_of(const std::string& text, bool declares = true) {
    try {
        read(text, declares);
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Input);
        EXPECT_EQ(error.text().where, "file.npz, member a.npy");
        return error.what();
    }
    return "no error";
}

} // namespace

TEST(NpyReader, ReadsEveryVersionTypeAndByteOrder) {
    const at::Tensor expected = at::tensor({1.0, 2.0, 258.0}, at::kDouble);
    const std::string big16("\x00\x01\x00\x02\x01\x02", 6);
    const std::string big32("\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x01\x02", 12);
    const std::string big_float("\x3f\x80\x00\x00\x40\x00\x00\x00\x43\x81\x00\x00", 12);
    const std::string big_double("\x3f\xf0\0\0\0\0\0\0\x40\x00\0\0\0\0\0\0\x40\x70\x20\0\0\0\0\0", 24);
    const struct {
        const char* type;
        std::string data;
        at::ScalarType tensor_type;
    } cases[] = {
        {"<i2", bytes_of<std::int16_t>({1, 2, 258}), at::kShort},
        {"=i2", bytes_of<std::int16_t>({1, 2, 258}), at::kShort},
        {">i2", big16, at::kShort},
        {"<u2", bytes_of<std::uint16_t>({1, 2, 258}), at::kUInt16},
        {"<i4", bytes_of<std::int32_t>({1, 2, 258}), at::kInt},
        {">i4", big32, at::kInt},
        {"<u4", bytes_of<std::uint32_t>({1, 2, 258}), at::kUInt32},
        {"<i8", bytes_of<std::int64_t>({1, 2, 258}), at::kLong},
        {"<u8", bytes_of<std::uint64_t>({1, 2, 258}), at::kUInt64},
        {"<f2", std::string("\x00\x3c\x00\x40\x08\x5c", 6), at::kHalf},
        {"<f4", bytes_of<float>({1, 2, 258}), at::kFloat},
        {">f4", big_float, at::kFloat},
        {"<f8", bytes_of<double>({1, 2, 258}), at::kDouble},
        {">f8", big_double, at::kDouble},
    };
    for (const auto& one : cases) {
        for (const int version : {1, 2, 3}) {
            const at::Tensor array = read(npy_bytes(one.type, "(3,)", one.data, false, version));
            EXPECT_EQ(array.scalar_type(), one.tensor_type) << one.type;
            EXPECT_TRUE(array.to(at::kDouble).equal(expected)) << one.type << " version " << version;
        }
    }
    EXPECT_TRUE(
        read(npy_bytes("|b1", "(2,)", std::string("\x01\x00", 2))).equal(at::tensor({1, 0}, at::kByte)));
    EXPECT_TRUE(
        read(npy_bytes("|i1", "(2,)", std::string("\x01\xff", 2))).equal(at::tensor({1, -1}, at::kChar)));
}

TEST(NpyReader, TurnsFortranOrderOfAnyRank) {
    // 2 x 3 with item = 10 * row + column, columns first
    const at::Tensor matrix =
        read(npy_bytes("<i4", "(2, 3)", bytes_of<std::int32_t>({0, 10, 1, 11, 2, 12}), true));
    EXPECT_TRUE(matrix.equal(at::tensor({0, 1, 2, 10, 11, 12}, at::kInt).view({2, 3})));
    EXPECT_TRUE(matrix.is_contiguous());

    // 2 x 2 x 2 with item = 100 * i + 10 * j + k
    const at::Tensor cube =
        read(npy_bytes("<i2", "(2, 2, 2)", bytes_of<std::int16_t>({0, 100, 10, 110, 1, 101, 11, 111}), true));
    EXPECT_TRUE(cube.equal(at::tensor({0, 1, 10, 11, 100, 101, 110, 111}, at::kShort).view({2, 2, 2})));

    const at::Tensor vector = read(npy_bytes("<i4", "(3,)", bytes_of<std::int32_t>({5, 6, 7}), true));
    EXPECT_TRUE(vector.equal(at::tensor({5, 6, 7}, at::kInt)));
}

TEST(NpyReader, ArraysOfOneReaderDoNotShareMemory) {
    spng::NpyReader reader;
    TextSource one(npy_bytes("<i4", "(2, 2)", bytes_of<std::int32_t>({1, 2, 3, 4}), true), true);
    TextSource two(npy_bytes("<i4", "(2, 2)", bytes_of<std::int32_t>({5, 6, 7, 8}), true), true);
    const at::Tensor first = reader.read(one);
    const at::Tensor second = reader.read(two);
    EXPECT_TRUE(first.equal(at::tensor({1, 3, 2, 4}, at::kInt).view({2, 2})));
    EXPECT_TRUE(second.equal(at::tensor({5, 7, 6, 8}, at::kInt).view({2, 2})));
}

TEST(NpyReader, ArraysOfBothOrdersAreInMemoryOfTheAllocator) {
    std::vector<at::Tensor> allocated;
    const auto allocate = [&](at::IntArrayRef sizes, at::ScalarType type) {
        return allocated.emplace_back(at::empty(sizes, type));
    };
    spng::NpyReader reader;
    for (const bool fortran_order : {false, true}) {
        TextSource source(npy_bytes("<i2", "(2, 2)", bytes_of<std::int16_t>({1, 2, 3, 4}), fortran_order),
                          true);
        const at::Tensor array = reader.read(source, allocate);
        EXPECT_EQ(array.const_data_ptr(), allocated.back().const_data_ptr());
    }
    EXPECT_EQ(allocated.size(), 2U);
}

TEST(NpyReader, ReadsScalarsEmptyArraysAndPython2Headers) {
    EXPECT_EQ(read(npy_bytes("<f8", "()", bytes_of<double>({2.5}))).item<double>(), 2.5);
    EXPECT_EQ(read(npy_bytes("<i4", "(0, 3)", "")).sizes(), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(read(npy_bytes("<i4", "(0, 3)", "", true)).sizes(), (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(read(npy_bytes("<i2", "(2L, 1L)", bytes_of<std::int16_t>({3, 4}))).sizes(),
              (std::vector<std::int64_t>{2, 1}));
}

TEST(NpyReader, GrowsWhileDataArrive) {
    // 80 MB of a member without declared size: more than the first allocation
    std::vector<std::int32_t> items(20'000'000);
    for (std::size_t i = 0; i < items.size(); ++i) {
        items[i] = static_cast<std::int32_t>(i);
    }
    const at::Tensor array = read(npy_bytes("<i4", "(20000000,)", bytes_of(items)), false);
    EXPECT_TRUE(array.equal(at::arange(20'000'000, at::kInt)));
}

TEST(NpyReader, RejectsSizesAboveTheMember) {
    // 10^12 items: above the maximum of any array
    EXPECT_NE(error_of(npy_bytes("<i2", "(9223372036854775807, 4, 0)", "")).find("too large a size"),
              std::string::npos);
    EXPECT_NE(error_of(npy_bytes("<i2", "(1000000, 1000000)", "abcd"), false).find("too large a size"),
              std::string::npos);
    EXPECT_NE(
        error_of(npy_bytes("<f8", "(9223372036854775807, 9223372036854775807)", "")).find("too large a size"),
        std::string::npos);
    // 2 GB: below the maximum, but not in a member of 200 bytes
    EXPECT_NE(error_of(npy_bytes("<i2", "(1000000, 1000)", "abcd")).find("does not fit the size"),
              std::string::npos);
    TextSource source(npy_bytes("<i2", "(1000000, 1000)", "abcd"), false);
    EXPECT_THROW(spng::NpyReader().read(source), spng::Error);
    EXPECT_LE(source.largest_request, std::size_t{64} << 20);
}

TEST(NpyReader, RejectsOtherContent) {
    const std::string good = npy_bytes("<i2", "(2,)", "abcd");
    for (const bool declares : {true, false}) {
        EXPECT_NE(error_of("", declares).find("not a .npy array"), std::string::npos);
        EXPECT_NE(error_of("PK\x03\x04 something else", declares).find("not a .npy array"),
                  std::string::npos);
        EXPECT_NE(error_of(good.substr(0, 9), declares).find("ends inside the array's header"),
                  std::string::npos);
        EXPECT_NE(error_of(good.substr(0, 40), declares).find("ends inside the array's header"),
                  std::string::npos);
    }
    EXPECT_NE(error_of(good.substr(0, good.size() - 1), false).find("ends inside the array"),
              std::string::npos);
    EXPECT_NE(error_of(good + "x", false).find("continues after"), std::string::npos);
    EXPECT_NE(error_of(good + "x").find("does not fit the size"), std::string::npos);
    std::string version_9 = good;
    version_9[6] = 9;
    EXPECT_NE(error_of(version_9).find("unknown format version"), std::string::npos);
    EXPECT_NE(error_of(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)).find("header is too long"),
              std::string::npos);
}

TEST(NpyReader, RejectsUnsupportedTypes) {
    EXPECT_NE(error_of(npy_bytes("|O", "(1,)", "12345678")).find("pickled Python objects"),
              std::string::npos);
    for (const char* type : {"<c16", "<U3", "|S4", "<M8[ns]", "<f16", "|V4", "", "<", "<i3"}) {
        EXPECT_NE(error_of(npy_bytes(type, "(1,)", "1234567890123456")).find("type is not supported"),
                  std::string::npos)
            << type;
    }
}

TEST(NpyReader, RejectsMalformedDictionaries) {
    const auto with_dictionary = [](const std::string& dictionary) {
        std::string out("\x93NUMPY\x01\x00", 8);
        out += {static_cast<char>(dictionary.size()), '\0'};
        return out + dictionary;
    };
    for (const char* dictionary :
         {"", "{", "{}", "{'descr': '<i2'}", "{'descr': '<i2', 'fortran_order': False, 'shape': (1,)} x",
          "{'descr': '<i2', 'fortran_order': False, 'shape': (-1,)}",
          "{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
          "{'descr': '<i2', 'fortran_order': 0, 'shape': (1,)}",
          "{'descr': '<i2', 'descr': '<i2', 'shape': (1,)}", "{'descr: '<i2'",
          "{'descr': '<i2', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}"}) {
        EXPECT_NE(error_of(with_dictionary(dictionary)).find("header cannot be read"), std::string::npos)
            << dictionary;
    }
    EXPECT_NE(error_of(with_dictionary("")).find("seen:     no text"), std::string::npos);
    EXPECT_NE(error_of(with_dictionary("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,)}"))
                  .find("type is not supported"),
              std::string::npos);
}
