// SPDX-License-Identifier: Apache-2.0
// Members that are read at their places in the file have the bytes that libarchive and NumPy put there.

#include "spng/core/error.h"
#include "spng/io/archive/archive_reader.h"
#include "spng/io/frame_reader.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/ops/equal.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

namespace {

using namespace spng::test;
using spng::ArchiveReader;
using spng::PlacedMember;

/// Return text that deflate makes shorter, but not short.
std::string content_of_size(std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; text.size() < bytes; ++i) {
        text += std::to_string(i * i % 1009) + ' ';
    }
    text.resize(bytes);
    return text;
}

/// Sizes around those of a block of a tar, of the beginning that is unpacked alone, and of the pieces of a checksum.
Members members_of_many_sizes() {
    Members members;
    for (const std::size_t bytes : {0, 1, 511, 512, 513, 4095, 4096, 4097, 262144, 262145, 700000}) {
        members.emplace_back("member_" + std::to_string(bytes), content_of_size(bytes));
    }
    // Names of a tar's old header have 100 characters; longer ones have a header of their own.
    members.emplace_back(std::string(180, 'n'), "of a long name");
    return members;
}

struct Format {
    const char* ending;
    const char* options;
};
constexpr Format placed_formats[] = {{".tar", nullptr}, {".npz", nullptr}, {".npz", "zip:compression=store"}};

std::string text(const std::vector<std::uint8_t>& bytes) {
    return {bytes.begin(), bytes.end()};
}

TEST(PlacedMember, HasTheBytesOfTheArchive) {
    const auto folder = temporary_folder("placed");
    const Members members = members_of_many_sizes();
    for (const auto& [ending, options] : placed_formats) {
        const auto path = folder / ("many" + std::string(ending));
        write_archive(path, members, options);
        ArchiveReader reader(path);
        std::vector<std::unique_ptr<PlacedMember>> placed;
        while (reader.next_member()) {
            placed.push_back(reader.placed_member());
            ASSERT_TRUE(placed.back());
        }
        ASSERT_EQ(placed.size(), members.size());
        for (std::size_t i = members.size(); i-- > 0;) { // in any order
            const std::string& expected = members[i].second;
            ASSERT_EQ(placed[i]->declared_bytes(), expected.size());
            std::vector<std::uint8_t> whole(expected.size());
            EXPECT_TRUE(placed[i]->read_whole(whole));
            EXPECT_EQ(text(whole), expected) << ending << ' ' << i;
            std::string in_parts;
            std::vector<std::uint8_t> part(1000);
            while (const std::size_t count = placed[i]->read(part.data(), part.size())) {
                in_parts.append(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(count));
            }
            EXPECT_EQ(in_parts, expected) << ending << ' ' << i;
        }
    }
}

TEST(PlacedMember, OtherFilesAreReadInOrder) {
    const auto folder = temporary_folder("not-placed");
    for (const char* ending : {".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"}) {
        const auto path = folder / ("event" + std::string(ending));
        write_archive(path, event_members("a", 0));
        ArchiveReader reader(path);
        ASSERT_TRUE(reader.next_member());
        EXPECT_FALSE(reader.placed_member()) << ending;
    }
}

TEST(PlacedMember, WhatIsBehindADamagedMemberCanBeRead) {
    const auto path = temporary_folder("placed-damage") / "three.npz";
    write_archive(path, joined(joined(event_members("a", 0), event_members("a", 1)), event_members("a", 2)),
                  "zip:compression=store");
    std::string bytes = read_file(path);
    const std::string name = "frame_a_1.npy";
    bytes[bytes.find("NUMPY", bytes.find(name)) + 130] ^= 1; // a sample
    write_file(path, bytes);
    spng::FrameReader reader(path);
    EXPECT_EQ(reader.next()->ident, 0);
    try {
        reader.next();
        FAIL();
    } catch (const spng::Error& error) {
        EXPECT_NE(std::string(error.what()).find("member " + name), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("CRC-32"), std::string::npos);
    }
    EXPECT_EQ(reader.next()->ident, 2);
    EXPECT_TRUE(reader.at_end());
    EXPECT_FALSE(reader.next());
}

TEST(PlacedMember, TasksOfAFileMayRunAtTheSameTime) {
    const auto folder = temporary_folder("placed-tasks");
    Members members;
    for (int ident = 0; ident < 12; ++ident) {
        members = joined(members, event_members("a", ident, 30, 700));
    }
    for (const auto& [ending, options] : placed_formats) {
        const auto path = folder / ("tasks" + std::string(ending));
        write_archive(path, members, options);
        std::vector<spng::Frame> expected;
        spng::FrameReader in_order(path);
        while (auto frame = in_order.next()) {
            expected.push_back(std::move(*frame));
        }
        ASSERT_EQ(expected.size(), 12u);
        spng::FrameReader reader(path);
        std::vector<std::future<spng::Frame>> frames;
        while (auto task = reader.next_task()) {
            frames.push_back(std::async(std::launch::async, *task));
        }
        ASSERT_EQ(frames.size(), expected.size());
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const spng::Frame frame = frames[i].get();
            EXPECT_EQ(frame.ident, expected[i].ident);
            EXPECT_TRUE(at::equal(frame.traces[0].samples, expected[i].traces[0].samples));
            EXPECT_EQ(frame.traces[0].channels, expected[i].traces[0].channels);
        }
    }
}

TEST(PlacedMember, SamplesAreAllocatedOnceWhateverTheirSize) {
    const auto folder = temporary_folder("placed-large");
    constexpr int channels = 9, ticks = 4 << 20; // 75 MB
    const std::string samples(std::size_t{channels} * ticks * 2, '\1');
    const Members members{
        {"frame_a_0.npy", npy_bytes("<i2", "(9, 4194304)", samples)},
        {"channels_a_0.npy", npy_bytes("<i4", "(9,)", bytes_of<std::int32_t>({0, 1, 2, 3, 4, 5, 6, 7, 8}))},
        {"tickinfo_a_0.npy", npy_bytes("<f8", "(3,)", bytes_of<double>({0, 500, 0}))}};
    for (const auto& [ending, options] :
         {Format{".tar", nullptr}, Format{".npz", nullptr}, Format{".npz", "zip:compression=store"},
          Format{".tar.gz", "compression-level=1"}}) {
        const auto path = folder / ("large" + std::string(ending));
        write_archive(path, members, options);
        std::size_t allocations = 0;
        spng::FrameReader reader(path, {"*"}, [&](at::IntArrayRef sizes, at::ScalarType type) {
            ++allocations;
            return spng::ordinary_tensor(sizes, type);
        });
        const auto frame = reader.next();
        EXPECT_EQ(allocations, 1u) << ending;
        EXPECT_TRUE(frame->traces[0].samples.eq(0x0101).all().item<bool>()) << ending;
    }
}

} // namespace
