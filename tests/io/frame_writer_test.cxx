// SPDX-License-Identifier: Apache-2.0
#include "spng/io/frame_writer.h"

#include "spng/core/error.h"
#include "spng/io/frame_reader.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <limits>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using namespace spng::test;

spng::Frame make_frame(int ident) {
    spng::Frame frame;
    frame.ident = ident;
    frame.traces.push_back({.tag = "adc_raw",
                            .samples = at::tensor({1, -2, 3, 32767, -32768, 6}, at::kShort).view({2, 3}),
                            .channels = {12, 5},
                            .start_ns = -312280.84926166,
                            .tick_ns = 500,
                            .first_tick = -3,
                            .summary = {}});
    frame.traces.push_back({.tag = "*",
                            .samples = at::tensor({0.5, 1e-30, -2.25, 1e30}, at::kFloat).view({2, 2}),
                            .channels = {12, 5},
                            .start_ns = 0.125,
                            .tick_ns = 512.5,
                            .first_tick = 0,
                            .summary = at::tensor({245.95033264, 1e-300}, at::kDouble)});
    frame.channel_masks["bad"] = {{12, 0, 3}, {5, 1, 2}};
    frame.channel_masks["none"] = {};
    return frame;
}

void expect_equal(const spng::Frame& seen, const spng::Frame& expected) {
    EXPECT_EQ(seen.ident, expected.ident);
    auto masks = expected.channel_masks;
    std::erase_if(masks, [](const auto& mask) { return mask.second.empty(); }); // WCT rejects empty arrays
    EXPECT_EQ(seen.channel_masks, masks);
    ASSERT_EQ(seen.traces.size(), expected.traces.size());
    for (std::size_t i = 0; i < seen.traces.size(); ++i) {
        const auto& a = seen.traces[i];
        const auto& b = expected.traces[i];
        EXPECT_EQ(a.tag, b.tag);
        EXPECT_EQ(a.samples.scalar_type(), b.samples.scalar_type());
        EXPECT_TRUE(a.samples.equal(b.samples));
        EXPECT_EQ(a.channels, b.channels);
        EXPECT_EQ(a.start_ns, b.start_ns);
        EXPECT_EQ(a.tick_ns, b.tick_ns);
        EXPECT_EQ(a.first_tick, b.first_tick);
        ASSERT_EQ(a.summary.has_value(), b.summary.has_value());
        EXPECT_TRUE(!a.summary || a.summary->equal(*b.summary));
    }
}

void write_two(const std::filesystem::path& path, std::optional<int> level = std::nullopt) {
    spng::FrameWriter writer(path, level);
    writer.write(make_frame(3));
    writer.write(make_frame(4));
    writer.close();
}

std::size_t files_in(const std::filesystem::path& folder) {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

/// Return the members of an archive as libarchive reads them.
Members members_of(const std::filesystem::path& path) {
    archive* in = archive_read_new();
    archive_read_support_filter_all(in);
    archive_read_support_format_all(in);
    EXPECT_EQ(archive_read_open_filename(in, path.c_str(), 1 << 16), ARCHIVE_OK);
    Members members;
    for (archive_entry* entry = nullptr; archive_read_next_header(in, &entry) == ARCHIVE_OK;) {
        std::string content(static_cast<std::size_t>(archive_entry_size(entry)), '\0');
        EXPECT_EQ(archive_read_data(in, content.data(), content.size()),
                  static_cast<la_ssize_t>(content.size()));
        members.emplace_back(archive_entry_pathname(entry), content);
    }
    archive_read_free(in);
    return members;
}

} // namespace

TEST(FrameWriter, RoundTrip) {
    const auto folder = temporary_folder("frame-writer-round");
    for (const std::string ending : {".npz", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2"}) {
        const auto path = folder / ("out" + ending);
        write_two(path);
        spng::FrameReader reader(path);
        expect_equal(reader.next().value(), make_frame(3));
        expect_equal(reader.next().value(), make_frame(4));
        EXPECT_FALSE(reader.next());
    }
    EXPECT_EQ(files_in(folder), 7u); // no temporary file remains
}

TEST(FrameWriter, BytesEqualThoseOfNumpy) {
    const auto folder = temporary_folder("frame-writer-bytes");
    for (const std::string ending : all_endings) {
        const auto path = folder / ("out" + ending);
        spng::FrameWriter writer(path);
        writer.write(make_frame(3));
        writer.close();
        const Members expected{
            {"frame_adc_raw_3.npy",
             npy_bytes("<i2", "(2, 3)", bytes_of<std::int16_t>({1, -2, 3, 32767, -32768, 6}))},
            {"channels_adc_raw_3.npy", npy_bytes("<i4", "(2,)", bytes_of<int>({12, 5}))},
            {"tickinfo_adc_raw_3.npy",
             npy_bytes("<f8", "(3,)", bytes_of<double>({-312280.84926166, 500, -3}))},
            {"frame_*_3.npy", npy_bytes("<f4", "(2, 2)", bytes_of<float>({0.5f, 1e-30f, -2.25f, 1e30f}))},
            {"channels_*_3.npy", npy_bytes("<i4", "(2,)", bytes_of<int>({12, 5}))},
            {"tickinfo_*_3.npy", npy_bytes("<f8", "(3,)", bytes_of<double>({0.125, 512.5, 0}))},
            {"summary_*_3.npy", npy_bytes("<f8", "(2,)", bytes_of<double>({245.95033264, 1e-300}))},
            {"chanmask_bad_3.npy", npy_bytes("<i4", "(2, 3)", bytes_of<int>({12, 0, 3, 5, 1, 2}))},
        };
        EXPECT_EQ(members_of(path), expected) << ending;
    }
}

TEST(FrameWriter, RepeatedFilesAreByteIdentical) {
    const auto folder = temporary_folder("frame-writer-repeat");
    for (const std::string ending : all_endings) {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
        write_two(folder / ("one" + ending));
        ::sleep(ending == ".tar.gz" ? 1 : 0); // a gzip header may have a time in seconds
        ::setenv("TZ", "Asia/Tokyo", 1);
        ::tzset();
        write_two(folder / ("two" + ending));
        EXPECT_EQ(read_file(folder / ("one" + ending)), read_file(folder / ("two" + ending))) << ending;
    }
    ::unsetenv("TZ");
    ::tzset();
}

TEST(FrameWriter, EveryLevelHasTheSameContent) {
    const auto folder = temporary_folder("frame-writer-level");
    for (const std::string ending : {".npz", ".tar.gz"}) {
        for (const int level : {0, 1, 6, 9}) {
            write_two(folder / ("out" + ending), level);
            spng::FrameReader reader(folder / ("out" + ending));
            expect_equal(reader.next().value(), make_frame(3));
        }
    }
    spng::Frame zeros = make_frame(0);
    zeros.traces[0].samples = at::zeros({2, 50'000}, at::kShort);
    const auto size = [&](int level) {
        spng::FrameWriter writer(folder / "zeros.npz", level);
        writer.write(zeros);
        writer.close();
        return std::filesystem::file_size(folder / "zeros.npz");
    };
    EXPECT_GT(size(0), 200'000u);
    EXPECT_LT(size(1), 10'000u);
    EXPECT_LT(size(9), size(1));
}

TEST(FrameWriter, NonContiguousSamplesAreWrittenInOrder) {
    const auto path = temporary_folder("frame-writer-view") / "out.npz";
    spng::Frame frame = make_frame(0);
    frame.traces.resize(1);
    frame.traces[0].samples = at::tensor({1, 2, 3, 4, 5, 6}, at::kShort).view({3, 2}).t();
    spng::FrameWriter writer(path);
    writer.write(frame);
    writer.close();
    EXPECT_TRUE(spng::FrameReader(path).next()->traces[0].samples.equal(
        at::tensor({1, 3, 5, 2, 4, 6}, at::kShort).view({2, 3})));
}

TEST(FrameWriter, TicksOfMasksBeyond32BitsBecomeTheNearestThatFit) {
    const auto path = temporary_folder("frame-writer-masks") / "out.npz";
    spng::Frame frame = make_frame(0);
    frame.channel_masks["bad"] = {{12, -10, std::int64_t{1} << 40},
                                  {5, std::int64_t{1} << 40, std::int64_t{1} << 41}};
    spng::FrameWriter writer(path);
    writer.write(frame);
    writer.close();
    constexpr int largest = std::numeric_limits<int>::max();
    EXPECT_EQ(spng::FrameReader(path).next()->channel_masks.at("bad"),
              (std::vector<spng::ChannelRange>{{12, -10, largest}, {5, largest, largest}}));
}

TEST(FrameWriter, NameAppearsOnlyWhenTheFileIsComplete) {
    const auto folder = temporary_folder("frame-writer-appears");
    const auto path = folder / "out.npz";
    write_file(path, "old content");
    {
        spng::FrameWriter writer(path);
        writer.write(make_frame(0));
        EXPECT_EQ(read_file(path), "old content");
        EXPECT_EQ(files_in(folder), 2u);
    }
    EXPECT_EQ(read_file(path), "old content"); // destroyed without close()
    EXPECT_EQ(files_in(folder), 1u);
    write_two(path);
    EXPECT_EQ(files_in(folder), 1u);
    EXPECT_TRUE(spng::FrameReader(path).next());
}

TEST(FrameWriter, WithoutEventsNothingIsLeft) {
    const auto folder = temporary_folder("frame-writer-empty");
    for (const std::string ending : all_endings) {
        spng::FrameWriter writer(folder / ("out" + ending));
        writer.close();
        writer.close();
        EXPECT_EQ(files_in(folder), 0u);
    }
}

TEST(FrameWriter, RejectsInconsistentFrames) {
    const auto folder = temporary_folder("frame-writer-rejects");
    spng::FrameWriter writer(folder / "out.npz");
    const auto kind_of = [&](const spng::Frame& frame) {
        try {
            writer.write(frame);
        } catch (const spng::Error& error) {
            return error.kind();
        }
        return spng::ErrorKind::Usage;
    };
    auto frame = make_frame(0);
    frame.traces[0].channels.pop_back();
    EXPECT_EQ(kind_of(frame), spng::ErrorKind::Internal);
    frame = make_frame(0);
    frame.traces[0].samples = frame.traces[0].samples.to(at::kDouble);
    EXPECT_EQ(kind_of(frame), spng::ErrorKind::Internal);
    frame = make_frame(0);
    frame.traces[1].summary = at::zeros({3}, at::kDouble);
    EXPECT_EQ(kind_of(frame), spng::ErrorKind::Internal);
    writer.write(make_frame(1)); // the rejected ones left nothing in the file
    writer.close();
    spng::FrameReader reader(folder / "out.npz");
    expect_equal(reader.next().value(), make_frame(1));
    EXPECT_FALSE(reader.next());
}

TEST(FrameWriter, RejectsInvalidMemberNames) {
    const auto folder = temporary_folder("frame-writer-names");
    for (const std::string tag : {"a/b", "line\nbreak", "\xce\xb4"}) {
        spng::FrameWriter writer(folder / "out.tar");
        auto frame = make_frame(0);
        frame.traces[0].tag = tag;
        EXPECT_THROW(writer.write(frame), spng::Error) << tag;
    }
    spng::FrameWriter writer(folder / "out.tar");
    auto frame = make_frame(0);
    frame.traces[0].tag = std::string(100, 'x');
    EXPECT_THROW(writer.write(frame), spng::Error);
}

TEST(FrameWriter, RejectsOtherEndingsAndLevels) {
    const auto folder = temporary_folder("frame-writer-endings");
    const auto kind_of = [&](const char* name, std::optional<int> level = std::nullopt) {
        try {
            spng::FrameWriter writer(folder / name, level);
        } catch (const spng::Error& error) {
            return error.kind();
        }
        return spng::ErrorKind::Internal;
    };
    EXPECT_EQ(kind_of("out.root"), spng::ErrorKind::Configuration);
    EXPECT_EQ(kind_of("out"), spng::ErrorKind::Configuration);
    EXPECT_EQ(kind_of("out.npz", 10), spng::ErrorKind::Configuration);
    EXPECT_EQ(kind_of("out.npz", -1), spng::ErrorKind::Configuration);
    EXPECT_EQ(kind_of("absent/out.npz"), spng::ErrorKind::Output);
    EXPECT_EQ(files_in(folder), 0u);
}

TEST(FrameWriter, UnwritableFolderIsAnError) {
    if (::geteuid() == 0) {
        // Permissions do not stop root, but nobody can create files in /proc.
        EXPECT_THROW(spng::FrameWriter("/proc/out.npz"), spng::Error);
        return;
    }
    const auto folder = temporary_folder("frame-writer-read-only");
    ::chmod(folder.c_str(), 0500);
    EXPECT_THROW(spng::FrameWriter(folder / "out.npz"), spng::Error);
    ::chmod(folder.c_str(), 0700);
}

TEST(FrameWriter, FullDiskIsAnErrorAndLeavesNoFile) {
    const auto folder = temporary_folder("frame-writer-full");
    spng::Frame frame = make_frame(0);
    at::manual_seed(1);
    frame.traces[0].samples = at::randint(-30'000, 30'000, {2, 500'000}, at::kShort); // does not compress
    for (const std::string ending : all_endings) {
        for (const rlim_t limit : {rlim_t{0}, rlim_t{5'000}}) {
            const auto path = folder / ("out" + ending);
            const pid_t child = ::fork();
            if (child == 0) {
                std::signal(SIGXFSZ, SIG_IGN);
                const rlimit bound{limit, limit};
                ::setrlimit(RLIMIT_FSIZE, &bound);
                int status = 1;
                try {
                    spng::FrameWriter writer(path);
                    try {
                        writer.write(frame);
                        writer.close();
                        status = 2;
                    } catch (const spng::Error& error) {
                        const std::string text = error.what();
                        std::string again;
                        try {
                            writer.close();
                        } catch (const spng::Error& same) {
                            again = same.what();
                        }
                        const bool told =
                            text.find(path.string()) != std::string::npos &&
                            text.find("File too large") != std::string::npos &&
                            text.find("after " + std::to_string(limit) + " bytes") != std::string::npos;
                        status = error.kind() == spng::ErrorKind::Output && told && again == text ? 0 : 3;
                    }
                } catch (...) {
                    status = 4;
                }
                ::_exit(status);
            }
            int status = 0;
            ASSERT_EQ(::waitpid(child, &status, 0), child);
            ASSERT_TRUE(WIFEXITED(status)) << ending << " signal " << WTERMSIG(status);
            EXPECT_EQ(WEXITSTATUS(status), 0) << ending << " limit " << limit;
            EXPECT_EQ(files_in(folder), 0u) << ending;
        }
    }
}
