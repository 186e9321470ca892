// SPDX-License-Identifier: Apache-2.0
// Frames from the samples inside ROIs equal frames from dense rows. On the CPU, where the operators have their
// references and the copy is a part of the buffer.

#include "spng/nodes/frame/compact_frame.h"

#include "spng/core/error.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/nodes/frame/row_scatter.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <gtest/gtest.h>

#include <numeric>

namespace spng {
namespace {

constexpr std::int64_t ticks = 130, factor = 4, slices = 33, channels_of_source = 5;

struct Example {
    std::vector<int> channels;
    std::vector<CompactTag> tags; ///< the samples, and their mask
    at::Tensor signal, mask;      ///< frames by scatter_rows
};

/// @param share  of the slices that are inside ROIs
Example example(std::size_t sources, double share, std::int64_t frame_ticks) {
    Example made;
    const auto count = static_cast<std::int64_t>(sources) * channels_of_source + 3; // three are absent
    made.channels.resize(static_cast<std::size_t>(count));
    std::iota(made.channels.begin(), made.channels.end(), 100);
    const at::Tensor order = at::randperm(count, at::TensorOptions(at::kInt)).add(100).to(at::kInt);
    CompactTag signal{.factor = factor, .ticks = ticks}, mask{.factor = factor};
    std::vector<RowBlock> rows, masks;
    for (std::size_t i = 0; i < sources; ++i) {
        const auto ids =
            order.narrow(0, static_cast<std::int64_t>(i) * channels_of_source, channels_of_source)
                .reshape({1, -1});
        const at::Tensor inside = at::rand({1, channels_of_source, slices}) < share;
        const at::Tensor packed = pack_ticks(inside);
        const at::Tensor compacted = at::randn({1, channels_of_source, ticks});
        signal.masks.push_back(packed);
        signal.rows.push_back(compacted);
        signal.ids.push_back(ids);
        mask.masks.push_back(packed);
        mask.ids.push_back(ids);
        rows.push_back({expand_rows(compacted, packed, factor), ids, 1});
        masks.push_back({inside, ids, factor});
    }
    made.tags = {signal, mask};
    made.signal = scatter_rows(rows, made.channels, frame_ticks);
    made.mask = scatter_rows(masks, made.channels, frame_ticks);
    return made;
}

void expect_equal(const Example& made, std::int64_t frame_ticks, CopiedShare& share) {
    const RowPositions positions(made.channels);
    CompactFrame frame(made.tags, positions, frame_ticks, share);
    const auto results = frame.results();
    const auto& samples = std::get<SparseSamples>(results.at(0));
    EXPECT_EQ(samples.values.scalar_type(), at::kFloat);
    EXPECT_TRUE(dense(samples).equal(made.signal));
    EXPECT_TRUE(std::get<at::Tensor>(results.at(1)).equal(made.mask));
    // Adjacent slices are one run, and no run is empty.
    const auto runs = samples.runs.accessor<std::int32_t, 2>();
    for (std::int64_t i = 0; i < runs.size(0); ++i) {
        EXPECT_LT(runs[i][1], runs[i][2]);
        EXPECT_LE(runs[i][2], frame_ticks);
        EXPECT_TRUE(i == 0 || runs[i - 1][0] < runs[i][0] || runs[i - 1][2] < runs[i][1]);
    }
}

TEST(CompactFrame, SaysWhichLimitIsExceeded) {
    const Example made = example(1, 0.5, ticks);
    const RowPositions positions(made.channels);
    CopiedShare share;
    try {
        const CompactFrame frame(made.tags, positions, std::int64_t{1} << 31, share);
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Internal);
        const std::string text = error.what();
        EXPECT_NE(text.find("ticks of the frame"), std::string::npos) << text;
        EXPECT_NE(text.find("2147483648"), std::string::npos) << text;
        EXPECT_NE(text.find("at most 2^31 - 1"), std::string::npos) << text;
    }
}

TEST(CompactFrame, EqualsTheDenseFrame) {
    at::manual_seed(21);
    CopiedShare share;
    for (const std::size_t sources : {1, 2, 4, 5, 7}) { // more than four are joined
        for (const double inside : {0., 0.02, 0.5, 1.}) {
            for (const std::int64_t frame_ticks : {ticks, ticks - 7, ticks + 9, std::int64_t{1}}) {
                expect_equal(example(sources, inside, frame_ticks), frame_ticks, share);
            }
        }
    }
}

TEST(CompactFrame, SamplesOfTwoTagsFollowEachOther) {
    at::manual_seed(22);
    auto made = example(2, 0.3, ticks);
    const auto other = example(2, 0.6, ticks);
    CompactTag second = other.tags[0];
    second.ids = made.tags[0].ids;
    CopiedShare share;
    const RowPositions positions(made.channels);
    CompactFrame frame({made.tags[1], made.tags[0], second}, positions, ticks, share);
    const auto results = frame.results();
    EXPECT_TRUE(dense(std::get<SparseSamples>(results.at(1))).equal(made.signal));
    CopiedShare fresh;
    CompactFrame alone({second}, positions, ticks, fresh);
    const auto expected = std::get<SparseSamples>(alone.results().at(0));
    EXPECT_TRUE(dense(std::get<SparseSamples>(results.at(2))).equal(dense(expected)));
}

TEST(CompactFrame, TheCopyGrowsWithTheLargestRecentEvent) {
    at::manual_seed(23);
    CopiedShare share;
    const auto bytes_of = [&](double inside) {
        const auto made = example(4, inside, ticks);
        const RowPositions positions(made.channels);
        CompactFrame frame(made.tags, positions, ticks, share);
        frame.results();
        return static_cast<double>(frame.copied().nbytes());
    };
    const double words = 23 * 8, all = 23 * 130 * 4; // of a tag: one word in each of 23 rows
    EXPECT_NEAR(bytes_of(0), 2 * words + 0.035 * all, 8);
    EXPECT_EQ(share.second_copies(), 0);
    EXPECT_NEAR(bytes_of(1), 2 * words + 0.035 * all, 8);
    EXPECT_EQ(share.second_copies(), 1);
    EXPECT_EQ(bytes_of(1), 2 * words + all); // 20 of 23 rows, and a quarter more: everything
    EXPECT_EQ(share.second_copies(), 1);
    for (int event = 0; event < 128; ++event) {
        bytes_of(0);
    }
    EXPECT_NEAR(bytes_of(0), 2 * words + 0.035 * all, 8);
}

} // namespace
} // namespace spng
