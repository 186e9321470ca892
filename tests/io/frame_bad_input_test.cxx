// SPDX-License-Identifier: Apache-2.0
// Invalid files give one clear error each, naming file and member.

#include "spng/core/error.h"
#include "spng/io/frame_reader.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <limits>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace spng::test;

spng::ErrorText error_of(const std::filesystem::path& path, std::vector<std::string> tags = {"*"}) {
    try {
        spng::FrameReader reader(path, std::move(tags));
        while (reader.next()) {
        }
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Input);
        EXPECT_FALSE(error.text().seen.empty());
        EXPECT_FALSE(error.text().expected.empty());
        EXPECT_FALSE(error.text().hint.empty());
        return error.text();
    }
    return {.what = "no error", .where = {}, .seen = {}, .expected = {}, .hint = {}};
}

/// Return the error for an event whose member `name` has this content.
spng::ErrorText error_with(const std::string& name, const std::string& content) {
    static const auto folder = temporary_folder("frame-bad-input");
    Members members = event_members("*", 0);
    bool replaced = false;
    for (auto& [member, bytes] : members) {
        if (member == name) {
            bytes = content;
            replaced = true;
        }
    }
    if (!replaced) {
        members.emplace_back(name, content);
    }
    write_archive(folder / "event.npz", members);
    const auto text = error_of(folder / "event.npz");
    EXPECT_NE(text.where.find("event.npz"), std::string::npos) << text.where;
    return text;
}

} // namespace

TEST(FrameBadInput, FilesThatAreNoArchive) {
    const auto folder = temporary_folder("frame-bad-files");
    EXPECT_EQ(error_of(folder / "absent.npz").what, "cannot open the input file");
    EXPECT_EQ(error_of(folder / "absent.npz").seen, "No such file or directory");
    EXPECT_EQ(error_of(folder).seen, "Is a directory");
    write_file(folder / "empty.npz", "");
    EXPECT_EQ(error_of(folder / "empty.npz").what, "the input file is empty");
    for (const std::string content : {"x", "this is a text file, not an archive\n", "PK", "\x93NUMPY\x01"}) {
        write_file(folder / "text.npz", content);
        EXPECT_EQ(error_of(folder / "text.npz").what, "the input file is not an archive") << content;
    }
    write_file(folder / "long.tar", std::string(100'000, 'x'));
    EXPECT_EQ(error_of(folder / "long.tar").what, "the input file is not an archive");
    // Only the first bytes of a gzip and of a bzip2 file.
    write_file(folder / "stub.tar.gz", "\x1f\x8b\x08");
    EXPECT_EQ(error_of(folder / "stub.tar.gz").what, "the compressed file is damaged or cut short");
    write_file(folder / "stub.tar.bz2", "BZh9");
    EXPECT_EQ(error_of(folder / "stub.tar.bz2").what, "the compressed file is damaged or cut short");
}

TEST(FrameBadInput, InvalidFrameArrays) {
    const auto frame = [](const std::string& content) { return error_with("frame_*_0.npy", content); };
    EXPECT_EQ(frame("no array").what, "the member is not a .npy array");
    EXPECT_NE(frame("no array").where.find("member frame_*_0.npy"), std::string::npos);
    EXPECT_EQ(frame(npy_bytes("<i2", "(4,)", bytes_of<std::int16_t>({1, 2, 3, 4}))).what,
              "the array has the wrong number of axes");
    EXPECT_EQ(frame(npy_bytes("<i2", "(3, 0)", "")).what, "the frame has no ticks");
    EXPECT_EQ(frame(npy_bytes("<i2", "(0, 4)", "")).what, "the frame has no channels");
    EXPECT_EQ(frame(npy_bytes("<c8", "(1, 1)", "12345678")).what, "the array's type is not supported");
    EXPECT_EQ(frame(npy_bytes("<i4", "(3, 1)", bytes_of<int>({1, 2, (1 << 24) + 1}))).what,
              "samples cannot be held in 32-bit floats");
    EXPECT_EQ(frame(npy_bytes("<u8", "(1, 1)", bytes_of<std::uint64_t>({~std::uint64_t{0}}))).what,
              "a number is too large");
    EXPECT_EQ(frame(npy_bytes("<i2", "(2, 4)", std::string(16, '\0'))).what,
              "the arrays of the event do not match");
}

TEST(FrameBadInput, InvalidChannels) {
    const auto channels = [](const std::string& content) { return error_with("channels_*_0.npy", content); };
    const auto twice = channels(npy_bytes("<i4", "(3,)", bytes_of<int>({5, 6, 5})));
    EXPECT_EQ(twice.what, "a channel occurs twice");
    EXPECT_EQ(twice.seen, "channel 5 again in row 2");
    EXPECT_EQ(channels(npy_bytes("<i4", "(2,)", bytes_of<int>({5, 6}))).what,
              "the arrays of the event do not match");
    EXPECT_EQ(channels(npy_bytes("<f4", "(3,)", bytes_of<float>({5, 6, 7}))).what,
              "the array must hold integers");
    EXPECT_EQ(channels(npy_bytes("<i8", "(3,)", bytes_of<std::int64_t>({5, 6, 1LL << 40}))).what,
              "a number is too large");
    EXPECT_EQ(channels(npy_bytes("<i4", "(1, 3)", bytes_of<int>({5, 6, 7}))).what,
              "the array has the wrong number of axes");
}

TEST(FrameBadInput, InvalidTickInformation) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const std::vector<double>& values : std::vector<std::vector<double>>{{nan, 500, 0},
                                                                              {0, nan, 0},
                                                                              {0, 500, nan},
                                                                              {inf, 500, 0},
                                                                              {0, inf, 0},
                                                                              {0, 0, 0},
                                                                              {0, -500, 0},
                                                                              {0, 500, 0.5},
                                                                              {0, 500, 1e12}}) {
        EXPECT_EQ(error_with("tickinfo_*_0.npy", npy_bytes("<f8", "(3,)", bytes_of(values))).what,
                  "the tick information is unusable");
    }
    EXPECT_EQ(error_with("tickinfo_*_0.npy", npy_bytes("<f8", "(2,)", bytes_of<double>({0, 500}))).what,
              "the tick information has the wrong shape");
}

TEST(FrameBadInput, InvalidSummariesAndMasks) {
    EXPECT_EQ(error_with("summary_*_0.npy", npy_bytes("<f8", "(2,)", bytes_of<double>({1, 2}))).what,
              "the arrays of the event do not match");
    EXPECT_EQ(error_with("chanmask_bad_0.npy", npy_bytes("<i4", "(1, 2)", bytes_of<int>({1, 2}))).what,
              "the channel mask has the wrong shape");
    EXPECT_EQ(error_with("chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<int>({1, 5, 4}))).what,
              "a range of the channel mask ends before it begins");
    EXPECT_EQ(error_with("chanmask_bad_0.npy", npy_bytes("<f4", "(1, 3)", bytes_of<float>({1, 2, 3}))).what,
              "the array must hold integers");
}

TEST(FrameBadInput, IncompleteEvents) {
    const auto path = temporary_folder("frame-bad-incomplete") / "event.tar";
    for (const std::size_t missing : {0, 1, 2}) {
        Members members = event_members("*", 0);
        const std::string name = members[missing].first;
        members.erase(members.begin() + static_cast<std::ptrdiff_t>(missing));
        write_archive(path, members);
        const auto text = error_of(path);
        EXPECT_EQ(text.what, "the event is not complete");
        EXPECT_EQ(text.seen, name + " is missing");
    }
    // A summary without its frame, and only a mask.
    write_archive(path, joined(event_members("a", 0),
                               {{"summary_b_0.npy", npy_bytes("<f8", "(3,)", bytes_of<double>({1, 2, 3}))}}));
    EXPECT_EQ(error_of(path).seen, "frame_b_0.npy is missing");
    write_archive(path, {{"chanmask_bad_0.npy", npy_bytes("<i4", "(0, 3)", "")}});
    EXPECT_EQ(error_of(path).what, "the event has no frame of an accepted tag");
    // Members of two events alternate.
    const auto zero = event_members("*", 0);
    const auto one = event_members("*", 1);
    write_archive(path, {zero[0], one[0], zero[1], one[1], zero[2], one[2]});
    EXPECT_EQ(error_of(path).seen, "channels_*_0.npy is missing");
    write_archive(path, joined(zero, zero));
    EXPECT_EQ(error_of(path).what, "the event has a member twice");
}

TEST(FrameBadInput, InvalidNamesAndTags) {
    const auto path = temporary_folder("frame-bad-names") / "event.tar";
    write_archive(path, {{"frame_*_x.npy", "abc"}});
    EXPECT_EQ(error_of(path).what, "the member's name cannot be read");
    write_archive(path, joined(event_members("gauss", 0), event_members("wiener", 0)));
    const auto text = error_of(path, {"signal"});
    EXPECT_EQ(text.what, "the event has no frame of an accepted tag");
    EXPECT_EQ(text.seen, "tags 'gauss', 'wiener'");
    EXPECT_EQ(text.expected, "tags 'signal'");
}

TEST(FrameBadInput, EventAfterAnInvalidOneIsRead) {
    const auto path = temporary_folder("frame-bad-skip") / "events.npz";
    Members bad = event_members("*", 1);
    bad[1].second = "no array";
    write_archive(path, joined(joined(event_members("*", 0), bad), event_members("*", 2)));
    spng::FrameReader reader(path);
    EXPECT_EQ(reader.next().value().ident, 0);
    EXPECT_THROW(reader.next(), spng::Error);
    EXPECT_EQ(reader.next().value().ident, 2);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.events(), 3u);
}

TEST(FrameBadInput, ClaimedGigabytesAreNotAllocated) {
    const auto folder = temporary_folder("frame-bad-claim");
    Members members = event_members("*", 0);
    members[0].second = npy_bytes("<f4", "(30000, 30000)", "abcd"); // 3.6 GB: below the maximum
    for (const std::string ending : all_endings) {
        const auto path = folder / ("claim" + ending);
        write_archive(path, members);
        const pid_t child = ::fork();
        if (child == 0) {
            rusage before{};
            rusage after{};
            ::getrusage(RUSAGE_SELF, &before);
            bool rejected = false;
            try {
                spng::FrameReader(path).next();
            } catch (const spng::Error&) {
                rejected = true;
            }
            ::getrusage(RUSAGE_SELF, &after);
            ::_exit(rejected && after.ru_maxrss - before.ru_maxrss < 100'000 ? 0 : 1); // kB
        }
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << ending;
    }
}
