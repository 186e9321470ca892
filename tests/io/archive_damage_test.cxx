// SPDX-License-Identifier: Apache-2.0
// Damaged archives: a file that is cut or has flipped bits gives complete events or an error, never wrong
// data.

#include "spng/core/error.h"
#include "spng/io/frame_reader.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace {

using namespace spng::test;

constexpr int channels = 40;
constexpr int ticks = 50;

Members three_events() {
    return joined(joined(event_members("*", 0, channels, ticks), event_members("*", 1, channels, ticks)),
                  event_members("*", 2, channels, ticks));
}

struct Outcome {
    std::size_t frames = 0;
    bool failed = false;
    bool wrong_samples = false; ///< samples differ from the written ones
};

Outcome read_all(const std::filesystem::path& path) {
    Outcome outcome;
    try {
        spng::FrameReader reader(path);
        while (const auto frame = reader.next()) {
            ++outcome.frames;
            const auto& samples = frame->traces.at(0).samples;
            if (samples.size(0) != channels || samples.size(1) != ticks ||
                samples.scalar_type() != at::kShort) {
                outcome.wrong_samples = true;
                continue;
            }
            const auto* values = samples.const_data_ptr<std::int16_t>();
            for (int i = 0; i < channels * ticks; ++i) {
                outcome.wrong_samples |= values[i] != 100 * (i / ticks) + i % ticks + frame->ident;
            }
        }
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Input) << error.what();
        outcome.failed = true;
    }
    return outcome;
}

} // namespace

TEST(ArchiveDamage, CutFileGivesCompleteEventsOrAnError) {
    const auto folder = temporary_folder("damage-cut");
    for (const std::string ending : all_endings) {
        const auto whole = folder / ("whole" + ending);
        const auto cut = folder / ("cut" + ending);
        write_archive(whole, three_events());
        const std::string bytes = read_file(whole);
        ASSERT_EQ(read_all(whole).frames, 3u);
        std::size_t failures = 0;
        for (std::size_t point = 0; point < 64; ++point) {
            write_file(cut, bytes.substr(0, bytes.size() * point / 64));
            const Outcome outcome = read_all(cut);
            EXPECT_FALSE(outcome.wrong_samples) << ending << " cut at " << point << "/64";
            EXPECT_TRUE(outcome.failed || outcome.frames == 3) << ending << " cut at " << point << "/64";
            failures += outcome.failed ? 1 : 0;
        }
        EXPECT_GE(failures, 40u) << ending;
    }
}

TEST(ArchiveDamage, CompressedFileWithAMissingByteIsRejected) {
    const auto folder = temporary_folder("damage-tail");
    for (const std::string ending : {".tar.gz", ".tar.bz2", ".tar.xz"}) {
        const auto path = folder / ("tail" + ending);
        write_archive(path, three_events());
        const std::string bytes = read_file(path);
        for (std::size_t missing = 1; missing <= 12; ++missing) {
            write_file(path, bytes.substr(0, bytes.size() - missing));
            EXPECT_TRUE(read_all(path).failed) << ending << ", " << missing << " bytes missing";
        }
    }
}

TEST(ArchiveDamage, FlippedBitInACompressedFileIsRejected) {
    const auto folder = temporary_folder("damage-flip");
    std::mt19937 random(20240); // NOLINT: the same mutations every time
    for (const std::string ending : {".npz", ".tar.gz", ".tar.bz2", ".tar.xz"}) { // zstd has no checksum here
        for (const bool several : {false, true}) {
            const auto path = folder / ("flip" + ending);
            write_archive(path, several ? three_events() : event_members("*", 0, channels, ticks));
            const std::string bytes = read_file(path);
            // A .tar.gz has its only checksum at the end, so earlier events come out before the error.
            const bool late = several && ending == ".tar.gz";
            std::size_t failures = 0;
            for (int trial = 0; trial < 500; ++trial) {
                std::string damaged = bytes;
                damaged[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
                write_file(path, damaged);
                const Outcome outcome = read_all(path);
                EXPECT_TRUE(!outcome.wrong_samples || (late && outcome.failed))
                    << ending << " trial " << trial;
                failures += outcome.failed ? 1 : 0;
            }
            EXPECT_GE(failures, 250u) << ending;
        }
    }
}

TEST(ArchiveDamage, RandomBytesInAnyContainerGiveEventsOrAnError) {
    const auto folder = temporary_folder("damage-rubbish");
    std::mt19937 random(7); // NOLINT
    for (const std::string ending : all_endings) {
        const auto path = folder / ("rubbish" + ending);
        write_archive(path, three_events());
        const std::string bytes = read_file(path);
        for (int trial = 0; trial < 500; ++trial) {
            std::string damaged = bytes;
            for (std::size_t count = 1 + random() % 8; count > 0; --count) {
                damaged[random() % bytes.size()] = static_cast<char>(random());
            }
            if (random() % 4 == 0) {
                damaged.insert(random() % bytes.size(), std::string(random() % 600, '\xff'));
            }
            write_file(path, damaged);
            EXPECT_LE(read_all(path).frames, 4u);
        }
    }
}
