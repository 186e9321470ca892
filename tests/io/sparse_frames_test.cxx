// SPDX-License-Identifier: Apache-2.0
// Sparse frames in files: written from both forms, read back, and rejected with the name of the member.

#include "spng/core/error.h"
#include "spng/core/files/sha256.h"
#include "spng/io/frame_reader.h"
#include "spng/io/frame_writer.h"
#include "spng/io/joined_frame_reader.h"
#include "tests/io/archive_fixture.h"
#include "tests/support/paths.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

namespace {

using namespace spng::test;
using spng::FrameForm;
using spng::SparseSamples;

/// Return samples of which about a sixth are not 0; some rows are empty.
at::Tensor charge(std::int64_t rows, std::int64_t ticks, at::ScalarType type) {
    at::manual_seed(7);
    const at::Tensor noise = at::randn({rows, ticks});
    at::Tensor samples = noise.mul(100).where(noise > 1, at::zeros({})).to(type);
    samples.narrow(0, 0, 1).zero_();
    return samples;
}

spng::TaggedTraces traces_of(const std::string& tag, const at::Tensor& samples) {
    spng::TaggedTraces traces;
    traces.tag = tag;
    traces.samples = samples;
    for (int row = 0; row < samples.size(0); ++row) {
        traces.channels.push_back(100 + row);
    }
    traces.start_ns = -12.5;
    traces.tick_ns = 500;
    traces.first_tick = 3;
    return traces;
}

/// Return an event with tags of every kind.
/// @param sparse  give the samples in sparse form
spng::Frame make_frame(int ident, bool sparse) {
    spng::Frame frame;
    frame.ident = ident;
    frame.traces = {traces_of("signal", charge(9, 50, at::kFloat)),
                    traces_of("roi", charge(9, 50, at::kShort)),
                    traces_of("a_tag_of_parts", charge(9, 50, at::kFloat)),
                    traces_of("*", charge(1, 1, at::kFloat)), traces_of("", at::zeros({2, 40}, at::kFloat))};
    frame.traces[0].summary = at::arange(9, at::kDouble);
    frame.channel_masks["bad"] = {{101, 0, 3}, {104, 1, 2}};
    frame.notes = {{"model", "none"}, {"note", "two\nlines"}};
    for (auto& traces : frame.traces) {
        if (sparse) {
            traces.sparse = std::make_shared<const SparseSamples>(spng::sparse(traces.samples));
            traces.samples = at::Tensor();
        }
    }
    return frame;
}

std::string file_of(const std::filesystem::path& path, const std::vector<spng::Frame>& frames, FrameForm form,
                    std::optional<int> level = std::nullopt) {
    spng::FrameWriter writer(path, level, form);
    for (const auto& frame : frames) {
        writer.write(frame);
    }
    writer.close();
    return read_file(path);
}

spng::ErrorText error_of(const std::filesystem::path& path) {
    try {
        spng::FrameReader reader(path);
        while (reader.next()) {
        }
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Input);
        EXPECT_FALSE(error.text().expected.empty());
        return error.text();
    }
    return {.what = "no error", .where = {}, .seen = {}, .expected = {}, .hint = {}};
}

/// Return the members of an event with the samples {{0, 5, 6, 0}, {0, 0, 0, 7}}.
Members sparse_members() {
    return {{"runs_*_0.npy", npy_bytes("<i4", "(2, 3)", bytes_of<int>({0, 1, 3, 1, 3, 4}))},
            {"values_*_0.npy", npy_bytes("<i2", "(3,)", bytes_of<std::int16_t>({5, 6, 7}))},
            {"shape_*_0.npy", npy_bytes("<i8", "(2,)", bytes_of<std::int64_t>({2, 4}))},
            {"channels_*_0.npy", npy_bytes("<i4", "(2,)", bytes_of<int>({12, 5}))},
            {"tickinfo_*_0.npy", npy_bytes("<f8", "(3,)", bytes_of<double>({0, 500, 0}))}};
}

/// Return the error for an event in which the member `name` has this content; without content it is missing.
spng::ErrorText error_with(const std::string& name, const std::string& content) {
    static const auto folder = temporary_folder("sparse-bad-input");
    Members members = sparse_members();
    for (auto& [member, bytes] : members) {
        bytes = member == name ? content : bytes;
    }
    std::erase_if(members, [](const auto& member) { return member.second.empty(); });
    write_archive(folder / "event.npz", members);
    return error_of(folder / "event.npz");
}

} // namespace

TEST(SparseFrames, BothFormsOfTracesGiveTheSameFile) {
    const auto folder = temporary_folder("sparse-frames-same");
    for (const auto form : {FrameForm::dense, FrameForm::sparse}) {
        for (const std::string ending : all_endings) {
            const auto from_dense =
                file_of(folder / ("dense" + ending), {make_frame(3, false), make_frame(4, false)}, form);
            const auto from_sparse =
                file_of(folder / ("sparse" + ending), {make_frame(3, true), make_frame(4, true)}, form);
            EXPECT_EQ(from_dense, from_sparse) << ending;
        }
    }
    EXPECT_EQ(file_of(folder / "dense0.npz", {make_frame(3, false)}, FrameForm::dense, 0),
              file_of(folder / "sparse0.npz", {make_frame(3, true)}, FrameForm::dense, 0));
}

TEST(SparseFrames, LongRowsAndRunsAcrossTheBlocksOfTheWriter) {
    const auto folder = temporary_folder("sparse-frames-long");
    spng::Frame frame;
    at::Tensor samples =
        at::zeros({3, 300'000}, at::kFloat);       // 1.2 MB a row, written in blocks of half a megabyte
    samples[0].narrow(0, 130'000, 2'000).fill_(1); // across the end of the first block
    samples[1].fill_(-2);                          // longer than a block
    samples[2][299'999] = 3;
    frame.traces = {traces_of("signal", samples)};
    for (const std::string ending : {".tar", ".npz"}) {
        const auto expected = file_of(folder / ("dense" + ending), {frame}, FrameForm::dense, 0);
        spng::Frame compact = frame;
        compact.traces[0].sparse = std::make_shared<const SparseSamples>(spng::sparse(samples));
        compact.traces[0].samples = at::Tensor();
        EXPECT_EQ(spng::sha256(file_of(folder / ("sparse" + ending), {compact}, FrameForm::dense, 0)),
                  spng::sha256(expected))
            << ending;
    }
}

TEST(SparseFrames, RunsWithZerosGiveTheShortestRuns) {
    const auto folder = temporary_folder("sparse-frames-zeros");
    spng::Frame frame;
    frame.traces = {traces_of("signal", at::tensor({0.f, 1.f, 0.f, 2.f}).view({1, 4}))};
    const auto expected = file_of(folder / "dense.npz", {frame}, FrameForm::sparse);
    frame.traces[0].sparse = std::make_shared<const SparseSamples>(
        SparseSamples{1, 4, at::tensor({0, 0, 4}, at::kInt).view({1, 3}), frame.traces[0].samples.view({4})});
    frame.traces[0].samples = at::Tensor();
    EXPECT_EQ(file_of(folder / "sparse.npz", {frame}, FrameForm::sparse), expected);
}

TEST(SparseFrames, ReadBackAsSparseSamplesAndExpandedByTheJoinedReader) {
    const auto folder = temporary_folder("sparse-frames-read");
    const spng::Frame expected = make_frame(3, false);
    for (const std::string ending : all_endings) {
        const auto path = folder / ("out" + ending);
        file_of(path, {make_frame(3, true), make_frame(4, true)}, FrameForm::sparse);
        const spng::Frame seen = spng::FrameReader(path).next().value();
        spng::JoinedFrameReader joined({path}, {"*"});
        const spng::Frame expanded = joined.next().value();
        ASSERT_EQ(seen.traces.size(), expected.traces.size());
        for (std::size_t i = 0; i < seen.traces.size(); ++i) {
            EXPECT_EQ(seen.traces[i].tag, expected.traces[i].tag);
            EXPECT_FALSE(seen.traces[i].samples.defined());
            EXPECT_TRUE(dense(*seen.traces[i].sparse).equal(expected.traces[i].samples));
            EXPECT_EQ(seen.traces[i].sparse->values.scalar_type(), expected.traces[i].samples.scalar_type());
            EXPECT_EQ(seen.traces[i].channels, expected.traces[i].channels);
            EXPECT_EQ(seen.traces[i].first_tick, 3);
            EXPECT_EQ(expanded.traces[i].sparse, nullptr);
            EXPECT_TRUE(expanded.traces[i].samples.equal(expected.traces[i].samples));
        }
        EXPECT_TRUE(seen.traces[0].summary->equal(*expected.traces[0].summary));
        EXPECT_EQ(seen.notes, expected.notes);
        EXPECT_EQ(seen.channel_masks, expected.channel_masks);
        EXPECT_EQ(joined.next()->ident, 4);
        EXPECT_FALSE(joined.next());
    }
}

TEST(SparseFrames, TagsOfBothFormsInOneFileAndOtherIntegerTypes) {
    const auto path = temporary_folder("sparse-frames-mixed") / "event.npz";
    Members members = sparse_members();
    members[0].second = npy_bytes("<i8", "(2, 3)", bytes_of<std::int64_t>({0, 1, 3, 1, 3, 4}));
    members[1].second = npy_bytes("<f8", "(3,)", bytes_of<double>({5, 6, 7}));
    members[2].second = npy_bytes("<i4", "(2,)", bytes_of<int>({2, 4}));
    for (const auto& member : event_members("raw", 0)) {
        members.push_back(member);
    }
    write_archive(path, members);
    const spng::Frame frame = spng::FrameReader(path).next().value();
    ASSERT_EQ(frame.traces.size(), 2u);
    EXPECT_TRUE(dense(*frame.traces[0].sparse)
                    .equal(at::tensor({0.f, 5.f, 6.f, 0.f, 0.f, 0.f, 0.f, 7.f}).view({2, 4})));
    EXPECT_TRUE(frame.traces[1].samples.defined());
    EXPECT_EQ(frame.traces[1].tag, "raw");
    EXPECT_EQ(spng::FrameReader(path, {"raw"}).next()->traces.size(), 1u);
}

TEST(SparseFrames, FaultsNameTheMember) {
    const auto runs = [](const std::vector<int>& numbers) {
        const auto error = error_with("runs_*_0.npy", npy_bytes("<i4", "(2, 3)", bytes_of<int>(numbers)));
        EXPECT_TRUE(error.where.ends_with("event.npz, member runs_*_0.npy")) << error.where;
        return error.what;
    };
    EXPECT_EQ(error_with("", "").what, "no error");
    EXPECT_EQ(runs({1, 3, 4, 0, 1, 3}), "two runs overlap or are out of order");
    EXPECT_EQ(runs({0, 1, 3, 0, 2, 3}), "two runs overlap or are out of order");
    EXPECT_EQ(runs({0, 1, 3, 1, 4, 5}), "a run is outside of the frame");
    EXPECT_EQ(runs({0, 1, 3, 2, 3, 4}), "a run is outside of the frame");
    EXPECT_EQ(runs({0, -1, 1, 1, 3, 4}), "a run is outside of the frame");
    EXPECT_EQ(runs({0, 3, 1, 1, 3, 4}), "a run ends before it begins, or is empty");
    const auto large =
        error_with("runs_*_0.npy", npy_bytes("<i8", "(1, 3)", bytes_of<std::int64_t>({0, 0, 1LL << 32})));
    EXPECT_EQ(large.what, "a number is too large");
    EXPECT_EQ(error_with("runs_*_0.npy", npy_bytes("<f4", "(0, 3)", "")).what,
              "the array must hold integers");
    EXPECT_EQ(error_with("runs_*_0.npy", npy_bytes("<i4", "(0, 2)", "")).what,
              "the runs have the wrong shape or type");
    EXPECT_EQ(error_with("runs_*_0.npy", npy_bytes("<i4", "(6,)", bytes_of<int>({0, 1, 3, 1, 3, 4}))).what,
              "the array has the wrong number of axes");
    const auto values =
        error_with("values_*_0.npy", npy_bytes("<i2", "(2,)", bytes_of<std::int16_t>({5, 6})));
    EXPECT_EQ(values.what, "the values do not fit the runs");
    EXPECT_EQ(values.seen, "2 values");
    EXPECT_EQ(values.expected, "3, the samples of all runs");
    EXPECT_TRUE(values.where.ends_with("member values_*_0.npy")) << values.where;
    const std::string whole = npy_bytes("<i2", "(3,)", bytes_of<std::int16_t>({5, 6, 7}));
    EXPECT_TRUE(
        error_with("values_*_0.npy", whole.substr(0, whole.size() - 2)).where.ends_with("values_*_0.npy"));
    for (const auto& shape :
         std::vector<std::vector<std::int64_t>>{{0, 4}, {2, 0}, {-2, 4}, {2}, {1 << 20, 1 << 20}}) {
        const auto error =
            error_with("shape_*_0.npy", npy_bytes("<i8", "(" + std::to_string(shape.size()) + ",)",
                                                  bytes_of<std::int64_t>(shape)));
        EXPECT_EQ(error.what, "the shape of the frame is impossible");
        EXPECT_TRUE(error.where.ends_with("member shape_*_0.npy")) << error.where;
    }
}

TEST(SparseFrames, MissingAndContradictingMembers) {
    for (const std::string kind : {"runs", "values", "shape", "channels", "tickinfo"}) {
        const auto error = error_with(kind + "_*_0.npy", "");
        EXPECT_EQ(error.what, "the event is not complete");
        EXPECT_EQ(error.seen, kind + "_*_0.npy is missing");
    }
    const auto path = temporary_folder("sparse-frames-two") / "event.npz";
    Members members = sparse_members();
    members.emplace_back("frame_*_0.npy", npy_bytes("<i2", "(2, 4)", std::string(16, '\0')));
    write_archive(path, members);
    EXPECT_EQ(error_of(path).what, "the event has samples in two forms");
    members.back() = members.front();
    write_archive(path, members);
    EXPECT_EQ(error_of(path).what, "the event has a member twice");
    members = sparse_members();
    members[3].second = npy_bytes("<i4", "(3,)", bytes_of<int>({1, 2, 3}));
    write_archive(path, members);
    EXPECT_EQ(error_of(path).expected, "2, the rows of shape_*_0.npy");
    members = sparse_members();
    members.emplace_back("notes_spng_0.npy", npy_bytes("|u1", "(2,)", "[]"));
    write_archive(path, members);
    EXPECT_EQ(error_of(path).what, "the notes cannot be read");
    members.back() = {"notes_0.npy", npy_bytes("|u1", "(2,)", "[]")}; // of other programs
    write_archive(path, members);
    EXPECT_EQ(error_of(path).what, "no error");
}

TEST(SparseFrames, TheWriterRejectsContradictingSamples) {
    const auto folder = temporary_folder("sparse-frames-rejects");
    spng::FrameWriter writer(folder / "out.npz", std::nullopt, FrameForm::sparse);
    spng::Frame frame = make_frame(0, true);
    frame.traces[0].channels.pop_back();
    EXPECT_THROW(writer.write(frame), spng::Error);
    frame = make_frame(0, true);
    auto broken = *frame.traces[0].sparse;
    broken.values = broken.values.narrow(0, 1, broken.values.numel() - 1);
    frame.traces[0].sparse = std::make_shared<const SparseSamples>(broken);
    EXPECT_THROW(writer.write(frame), spng::Error);
}

TEST(SparseFrames, FullDiskIsAnError) {
    const auto path = temporary_folder("sparse-frames-full") / "out.tar";
    std::filesystem::create_symlink("/dev/full", path);
    for (const auto form : {FrameForm::dense, FrameForm::sparse}) {
        spng::FrameWriter writer(path, std::nullopt, form);
        try {
            writer.write(make_frame(0, true));
            writer.close();
            FAIL() << "no error";
        } catch (const spng::Error& error) {
            EXPECT_EQ(error.kind(), spng::ErrorKind::Output);
            EXPECT_TRUE(error.text().seen.starts_with("No space left on device")) << error.what();
        }
    }
}
