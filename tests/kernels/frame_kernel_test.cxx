// SPDX-License-Identifier: Apache-2.0
// Kernels that gather the rows of a frame.

#include "spng/core/rows/bit_ticks.h"
#include "spng/nodes/frame/frame_rows.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randperm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace spng::testing {
namespace {

/// A frame whose rows come from two tensors in any order; some rows come from none.
struct FrameRows {
    std::vector<at::Tensor> masks; ///< (row, slice) bool
    std::vector<at::Tensor> rows;  ///< (row, tick), compacted: the samples inside ROIs come first
    at::Tensor origins;
};

FrameRows frame_rows(std::int64_t first, std::int64_t second, std::int64_t absent, std::int64_t ticks,
                     std::int64_t slices, at::ScalarType type) {
    FrameRows frame;
    std::vector<at::Tensor> origins{at::full({absent, 2}, -1, at::kInt)};
    for (const auto& [source, count] : {std::pair(0, first), std::pair(1, second)}) {
        const at::Tensor density = at::rand({count, 1}).pow(3); // full, empty and other rows
        frame.masks.push_back(at::rand({count, slices}) < density);
        frame.rows.push_back(at::randn({count, ticks}, at::kDouble).to(type));
        const at::Tensor row = at::randperm(count, at::TensorOptions(at::kInt));
        origins.push_back(at::stack({at::full({count}, source, at::kInt), row}, 1));
    }
    const at::Tensor all = at::cat(origins);
    frame.origins = all.index_select(0, at::randperm(all.size(0))).contiguous();
    return frame;
}

/// The words of all rows and their samples, by definition: row by row.
struct Expected {
    at::Tensor words, values;
};

Expected expected_of(const FrameRows& frame, std::int64_t factor, std::int64_t ticks) {
    std::vector<at::Tensor> words, values{at::empty({0}, at::kFloat)};
    for (std::int64_t row = 0; row < frame.origins.size(0); ++row) {
        const int source = frame.origins[row][0].item<int>(), own = frame.origins[row][1].item<int>();
        if (source < 0) {
            words.push_back(at::zeros_like(pack_ticks(frame.masks[0][0])));
            continue;
        }
        const at::Tensor mask = frame.masks[source][own];
        words.push_back(pack_ticks(mask));
        const auto inside =
            mask.repeat_interleave(factor).narrow(0, 0, std::min(ticks, mask.size(0) * factor));
        values.push_back(
            frame.rows[source][own].narrow(0, 0, inside.sum().item<std::int64_t>()).to(at::kFloat));
    }
    return {at::stack(words), at::cat(values)};
}

/// Run both kernels for two tags of equal rows, whose samples follow each other.
at::Tensor gathered(const FrameRows& frame, std::int64_t factor, std::int64_t ticks, std::int64_t capacity) {
    const std::int64_t rows = frame.origins.size(0), tiles_of_tag = tiles_for(rows);
    std::vector<at::Tensor> packed;
    for (const at::Tensor& mask : frame.masks) {
        packed.push_back(pack_ticks(mask));
    }
    const at::Tensor words = at::zeros({rows, packed[0].size(1)}, at::kLong);
    const at::Tensor extents = at::zeros({rows, 2}, at::kInt),
                     tiles = at::zeros({2 * tiles_of_tag}, at::kLong);
    const at::Tensor values = at::zeros({2 * capacity});
    for (const std::int64_t first_tile : {std::int64_t{0}, tiles_of_tag}) {
        kernels::gather_words(packed, frame.origins, factor, ticks, words, extents,
                              tiles.narrow(0, first_tile, tiles_of_tag));
        kernels::gather_rows(frame.rows, frame.origins, extents, tiles, first_tile, values);
    }
    return at::cat({words.flatten().view(at::kFloat), values});
}

TEST(FrameRowsKernel, GathersWordsAndSamplesInTheOrderOfTheFrame) {
    at::manual_seed(11);
    for (const auto type : {at::kFloat, at::kDouble}) {
        for (const std::int64_t factor : {1, 4}) {
            for (const std::int64_t ticks : {1, 63, 257, 1030}) {
                for (const std::int64_t cut : {0, 1, 30}) { // ticks of the rows that the frame does not have
                    const std::int64_t used = std::max<std::int64_t>(1, ticks - cut);
                    const auto frame = frame_rows(19, 14, 3, ticks, (ticks + factor - 1) / factor, type);
                    const auto expected = expected_of(frame, factor, used);
                    const std::int64_t capacity = 36 * ticks;
                    const at::Tensor seen = emulated([&] { return gathered(frame, factor, used, capacity); });
                    const std::int64_t words = 2 * expected.words.numel(), count = expected.values.numel();
                    EXPECT_TRUE(
                        same_bytes(seen.narrow(0, 0, words), expected.words.flatten().view(at::kFloat)));
                    const at::Tensor twice = at::cat({expected.values, expected.values});
                    EXPECT_TRUE(same_bytes(seen.narrow(0, words, 2 * count), twice))
                        << ticks << " ticks, factor " << factor << ", cut " << cut;
                    EXPECT_TRUE(
                        seen.narrow(0, words + 2 * count, 2 * (capacity - count)).eq(0).all().item<bool>());
                }
            }
        }
    }
}

TEST(FrameRowsKernel, EqualsTheOperatorOfTheCpu) {
    at::manual_seed(12);
    const auto frame = frame_rows(20, 30, 5, 500, 125, at::kFloat);
    std::vector<at::Tensor> packed{pack_ticks(frame.masks[0]), pack_ticks(frame.masks[1])};
    const auto run = [&](const auto& words_operator, const auto& rows_operator) {
        const at::Tensor words = at::zeros({55, 2}, at::kLong), extents = at::zeros({55, 2}, at::kInt);
        const at::Tensor tiles = at::zeros({tiles_for(55)}, at::kLong), values = at::zeros({55 * 500});
        words_operator(packed, frame.origins, 4, 499, words, extents, tiles);
        rows_operator(frame.rows, frame.origins, extents, tiles, 0, values);
        return at::cat(
            {words.flatten(), extents.flatten().to(at::kLong), tiles, values.view(at::kInt).to(at::kLong)});
    };
    const at::Tensor seen = emulated([&] { return run(kernels::gather_words, kernels::gather_rows); });
    EXPECT_TRUE(same_bytes(seen, run(gather_words, gather_rows)));
}

TEST(FrameRowsKernel, OneRowAndAFrameOfAbsentRows) {
    FrameRows frame;
    frame.masks = {at::full({1, 3}, true, at::kBool)};
    frame.rows = {at::randn({1, 10})};
    for (const int source : {0, -1}) {
        frame.origins = at::full({1, 2}, source, at::kInt);
        const auto expected = expected_of(frame, 4, 10);
        const at::Tensor seen = emulated([&] { return gathered(frame, 4, 10, 10); });
        EXPECT_EQ(expected.values.numel(), source < 0 ? 0 : 10);
        const at::Tensor values = at::cat({expected.values, expected.values});
        EXPECT_TRUE(same_bytes(seen.narrow(0, 2, values.numel()), values));
    }
}

} // namespace
} // namespace spng::testing
