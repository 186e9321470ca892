// SPDX-License-Identifier: Apache-2.0
// Flip each single bit of small archives: the result is an error or the original content, never other content
// and never fewer events.

#include "spng/core/error.h"
#include "spng/io/frame_reader.h"
#include "spng/io/json_file.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <zlib.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace spng::test;
namespace fs = std::filesystem;

/// Return an event with all kinds of members, and a small one.
Members two_events() {
    Members members = event_members("a", 0, 2, 3);
    members.emplace_back("summary_a_0.npy", npy_bytes("<f8", "(2,)", bytes_of<double>({1.5, 2.5})));
    members.emplace_back("chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<std::int32_t>({7, 1, 2})));
    return joined(members, event_members("a", 1, 1, 2));
}

/// Return all events of a reader as text; nothing after an error.
std::optional<std::string> content_of(const fs::path& path) {
    std::string text;
    try {
        spng::FrameReader reader(path);
        while (const auto frame = reader.next()) {
            text += "event " + std::to_string(frame->ident);
            for (const auto& traces : frame->traces) {
                text += " " + traces.tag + " " + traces.samples.toString() + " " +
                        std::string(static_cast<const char*>(traces.samples.const_data_ptr()),
                                    traces.samples.nbytes());
                for (const int channel : traces.channels) {
                    text += " " + std::to_string(channel);
                }
                text += " " + std::to_string(traces.start_ns) + " " + std::to_string(traces.tick_ns) + " " +
                        std::to_string(traces.first_tick);
                if (traces.summary) {
                    text +=
                        " summary " + std::string(static_cast<const char*>(traces.summary->const_data_ptr()),
                                                  traces.summary->nbytes());
                }
            }
            for (const auto& [name, ranges] : frame->channel_masks) {
                for (const auto& range : ranges) {
                    text += " " + name + " " + std::to_string(range.channel) + " " +
                            std::to_string(range.begin) + " " + std::to_string(range.end);
                }
            }
        }
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Input) << error.what();
        return std::nullopt;
    }
    return text;
}

/// Path of a file or of a pipe with these bytes.
class Source {
public:
    Source(const std::string& bytes, bool is_pipe) {
        if (is_pipe) {
            int ends[2] = {-1, -1};
            EXPECT_EQ(::pipe(ends), 0);
            m_descriptor = ends[0];
            EXPECT_EQ(::write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
            ::close(ends[1]);
        } else {
            m_descriptor = ::memfd_create("archive", MFD_CLOEXEC);
            EXPECT_EQ(::write(m_descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        }
    }
    ~Source() { ::close(m_descriptor); }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    fs::path path() const { return "/proc/self/fd/" + std::to_string(m_descriptor); }

private:
    int m_descriptor = -1;
};

struct Counts {
    std::size_t errors = 0, same = 0, other = 0;
};

/// @param read  returns nothing after an error
/// @param is_allowed  whether a flip in this byte may change the content
Counts flip_every_bit(
    const std::string& bytes, bool is_pipe,
    const std::function<std::optional<std::string>(const fs::path&)>& read = content_of,
    const std::function<bool(std::size_t)>& is_allowed = [](std::size_t) { return false; }) {
    const auto whole = read(Source(bytes, is_pipe).path());
    EXPECT_TRUE(whole.has_value());
    Counts counts;
    // For a pipe, flip one or two bits of each byte.
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += is_pipe ? 5 : 1) {
        std::string damaged = bytes;
        damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
        const auto found = read(Source(damaged, is_pipe).path());
        ++(!found ? counts.errors : *found == *whole ? counts.same : counts.other);
        EXPECT_TRUE(!found || *found == *whole || is_allowed(bit / 8))
            << "bit " << bit % 8 << " of byte " << bit / 8;
        if (testing::Test::HasFailure()) {
            break;
        }
    }
    EXPECT_GT(counts.errors, counts.same / 4);
    return counts;
}

std::string archive_bytes(const std::string& ending, const Members& members, const char* options = nullptr) {
    const auto path = temporary_folder("every-bit") / ("archive" + ending);
    write_archive(path, members, options);
    return read_file(path);
}

/// Return one gzip member.
/// @param extra  the extra field of its header, such as that of BGZF; empty for none
std::string gzip(const std::string& content, std::string extra = "", char* name = nullptr) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    gz_header header{};
    if (!extra.empty()) {
        header.extra = reinterpret_cast<Bytef*>(extra.data());
        header.extra_len = static_cast<uInt>(extra.size());
    }
    header.name = reinterpret_cast<Bytef*>(name);
    header.hcrc = name != nullptr ? 1 : 0;
    EXPECT_EQ(deflateSetHeader(&stream, &header), Z_OK);
    std::string out(deflateBound(&stream, content.size()) + 100, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string gzip_in_pieces(const std::string& content, std::size_t piece, const std::string& extra = "") {
    std::string out;
    for (std::size_t at = 0; at < content.size(); at += piece) {
        out += gzip(content.substr(at, piece), extra);
    }
    return out;
}

std::string little_endian(std::uint64_t value, int bytes) {
    std::string out;
    for (int i = 0; i < bytes; ++i) {
        out += static_cast<char>(value >> (8 * i) & 0xFF);
    }
    return out;
}

/// Return a zip as numpy.savez writes it: stored, with the sizes in zip64 fields of the headers.
std::string numpy_zip(const Members& members) {
    std::string out, directory;
    for (const auto& [name, content] : members) {
        const auto checksum =
            ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
        const std::string begin = little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 2) +
                                  little_endian(0x21, 2) + little_endian(checksum, 4);
        const std::string size = little_endian(content.size(), 4), size64 = little_endian(content.size(), 8);
        directory += "PK\x01\x02" + little_endian(0x32d, 2) + little_endian(45, 2) + begin + size + size +
                     little_endian(name.size(), 2) + little_endian(0, 8) + little_endian(0600 << 16, 4) +
                     little_endian(out.size(), 4) + name;
        out += "PK\x03\x04" + little_endian(45, 2) + begin + little_endian(0xFFFFFFFF, 4) +
               little_endian(0xFFFFFFFF, 4) + little_endian(name.size(), 2) + little_endian(20, 2) + name +
               little_endian(1, 2) + little_endian(16, 2) + size64 + size64 + content;
    }
    return out + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(members.size(), 2) +
           little_endian(members.size(), 2) + little_endian(directory.size(), 4) +
           little_endian(out.size(), 4) + little_endian(0, 2);
}

class EveryBit : public testing::TestWithParam<bool> {}; ///< whether the file is a pipe

INSTANTIATE_TEST_SUITE_P(File, EveryBit, testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Pipe, EveryBit, testing::Values(true));

TEST_P(EveryBit, GzipWithOneMember) {
    char name[] = "adc.tar";
    flip_every_bit(gzip(archive_bytes(".tar", two_events()), "", name), GetParam());
}

TEST_P(EveryBit, GzipWithSeveralMembers) {
    const std::string tar = archive_bytes(".tar", two_events());
    flip_every_bit(gzip_in_pieces(tar, tar.size() / 3), GetParam());
}

TEST_P(EveryBit, GzipInBlocksOfBgzf) {
    const std::string extra = "BC" + little_endian(2, 2) + little_endian(99, 2);
    flip_every_bit(gzip_in_pieces(archive_bytes(".tar", two_events()), 2048, extra) + gzip("", extra),
                   GetParam());
}

TEST_P(EveryBit, GzipFollowedByZeros) {
    flip_every_bit(gzip(archive_bytes(".tar", event_members("a", 0, 1, 2))) + std::string(16, '\0'),
                   GetParam());
}

TEST_P(EveryBit, Bzip2WithSeveralStreams) {
    const std::string one = archive_bytes(".tar.bz2", event_members("a", 0, 1, 2), "compression-level=1");
    flip_every_bit(one, GetParam());
    // The end mark of the tar ends the archive, so the second stream has only the zeros after it.
    const auto path = temporary_folder("every-bit-bz2") / "zeros.bz2";
    archive* out = archive_write_new();
    archive_write_add_filter_bzip2(out);
    archive_write_set_format_raw(out);
    archive_write_set_options(out, "compression-level=1");
    ASSERT_EQ(archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(out, entry);
    const std::string zeros(2048, '\0');
    archive_write_data(out, zeros.data(), zeros.size());
    archive_entry_free(entry);
    archive_write_close(out);
    archive_write_free(out);
    flip_every_bit(one + read_file(path), GetParam());
}

TEST_P(EveryBit, ZipOfLibarchive) {
    flip_every_bit(archive_bytes(".npz", two_events()), GetParam());
}

TEST_P(EveryBit, ZipOfNumpy) {
    flip_every_bit(numpy_zip(two_events()), GetParam());
}

TEST_P(EveryBit, TarOutsideTheData) {
    Members members = event_members("a", 0, 1, 2);
    members.emplace_back("chanmask_bad_0.npy", npy_bytes("<i4", "(1, 3)", bytes_of<std::int32_t>({7, 1, 2})));
    const std::string tar = archive_bytes(".tar", members);
    // Without compression, a flipped bit of a sample gives another valid sample.
    std::vector<bool> is_data(tar.size(), false);
    for (std::size_t at = 0; at + 512 <= tar.size() && tar[at] != '\0';) {
        const std::size_t size = std::stoul(tar.substr(at + 124, 11), nullptr, 8);
        std::fill_n(is_data.begin() + static_cast<std::ptrdiff_t>(at + 512), size, true);
        at += 512 + (size + 511) / 512 * 512;
    }
    flip_every_bit(tar, GetParam(), content_of, [&](std::size_t byte) { return is_data[byte]; });
}

TEST_P(EveryBit, CompressedJson) {
    const auto read = [](const fs::path& path) -> std::optional<std::string> {
        try {
            return spng::load_json_file(path.string()).dump();
        } catch (const spng::Error& error) {
            EXPECT_EQ(error.kind(), spng::ErrorKind::Configuration);
            return std::nullopt;
        }
    };
    if (GetParam()) {
        GTEST_SKIP() << "data files are regular files";
    }
    const std::string text = R"({"wires": [1, 2, 3], "name": "abcdefgh"})";
    flip_every_bit(gzip(text), false, read);
    flip_every_bit(gzip_in_pieces(text, 20), false, read);
}

TEST(ArchiveEnd, CutAtAnyByteIsAnError) {
    const std::string tar = archive_bytes(".tar", two_events());
    for (const std::string& bytes : {tar, gzip(tar), gzip_in_pieces(tar, 2048),
                                     archive_bytes(".npz", two_events()), numpy_zip(two_events())}) {
        for (const bool is_pipe : {false, true}) {
            const auto whole = content_of(Source(bytes, is_pipe).path());
            ASSERT_TRUE(whole);
            for (std::size_t size = 0; size < bytes.size(); size += bytes.size() > 4096 ? 32 : 1) {
                const auto found = content_of(Source(bytes.substr(0, size), is_pipe).path());
                EXPECT_TRUE(!found || *found == *whole) << size << " of " << bytes.size();
            }
        }
    }
}

TEST(ArchiveEnd, ZerosMayFollowAndNothingElse) {
    const std::string tar = archive_bytes(".tar", two_events());
    for (const std::string& bytes : {tar, gzip(tar), archive_bytes(".tar.bz2", two_events()),
                                     archive_bytes(".npz", two_events()), numpy_zip(two_events())}) {
        const auto whole = content_of(Source(bytes, false).path());
        for (const bool is_pipe : {false, true}) {
            EXPECT_EQ(content_of(Source(bytes + std::string(700, '\0'), is_pipe).path()), whole);
            EXPECT_FALSE(content_of(Source(bytes + std::string(700, '\0') + "x", is_pipe).path()));
            EXPECT_FALSE(content_of(Source(bytes + "garbage", is_pipe).path()));
        }
    }
}

TEST(ArchiveEnd, IncompleteEventOfADamagedFileReportsTheDamage) {
    const std::string tar = archive_bytes(".tar", two_events());
    std::string renamed = tar;
    renamed.replace(renamed.find("frame_a_1"), 9,
                    "frame_b_1"); // also in the header's checksum, so that tar accepts it
    const std::size_t header = renamed.find("frame_b_1");
    renamed.replace(header + 148, 8, "        ");
    unsigned sum = 0;
    for (std::size_t i = 0; i < 512; ++i) {
        sum += static_cast<unsigned char>(renamed[header + i]);
    }
    std::array<char, 8> digits{};
    std::snprintf(digits.data(), digits.size(), "%06o", sum);
    renamed.replace(header + 148, 7, digits.data(), 7);
    const auto what = [](const std::string& bytes) {
        const Source source(bytes, false);
        try {
            spng::FrameReader reader(source.path());
            while (reader.next()) {
            }
        } catch (const spng::Error& error) {
            return error.text().what;
        }
        return std::string("no error");
    };
    EXPECT_EQ(what(gzip(renamed)), "the event is not complete");
    std::string damaged = gzip(renamed);
    damaged[damaged.size() - 6] ^= 1; // the checksum
    EXPECT_EQ(what(damaged), "the compressed file is damaged or cut short");
}

TEST(SharedFaults, FlippedBitsGiveAnError) {
    const auto shared = shared_folder();
    if (!shared || !fs::is_directory(*shared / "faults")) {
        GTEST_SKIP() << "no shared faults";
    }
    for (const char* name : {"flipA.-flip2688.tar.gz", "flipC.-flip1652.tar.gz", "flipJ.-flip2465.tar.gz",
                             "flipL.-flip4976.tar.gz", "flipM.-flip2799.tar.gz"}) {
        EXPECT_FALSE(content_of(*shared / "faults" / name)) << name;
    }
}

} // namespace
