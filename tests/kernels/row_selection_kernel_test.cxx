// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_selection.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace spng::testing {
namespace {

constexpr std::optional<Rails> rails_14{{0, 16383}};

/// Rows of a frame, in an order of their own, and bad ticks.
struct Selection {
    at::Tensor frame;
    std::vector<std::int64_t> rows;
    std::vector<ChannelRange> bad{}; ///< by position in `rows`
    std::optional<Rails> rails{};
    double largest = largest_sample(14);
};

/// Compare waveforms, good rows and flags with those of the host. @return the flags
at::Tensor expect_rows(const Selection& selection) {
    const at::Tensor rows = at::tensor(selection.rows, at::kLong);
    const at::Tensor ids = at::arange(rows.numel(), at::kInt);
    const BadTicks bad = bad_ticks_of(ids, selection.bad, selection.frame.size(1));
    const auto& rails = selection.rails;
    const SelectedRows expected =
        select_rows_on_host(selection.frame, {rows, bad.offsets, bad.ranges}, rails, selection.largest);
    at::Tensor good, flags;
    const at::Tensor waveforms = emulated([&] {
        auto seen = kernels::select_rows(
            selection.frame, rows, bad.offsets, bad.ranges, rails ? std::optional(rails->low) : std::nullopt,
            rails ? std::optional(rails->high) : std::nullopt, selection.largest);
        good = std::get<1>(seen);
        flags = std::get<2>(seen);
        EXPECT_TRUE(same_bytes(good, expected.good)) << good << expected.good;
        EXPECT_TRUE(same_bytes(flags, expected.flags)) << flags << expected.flags;
        return std::get<0>(seen);
    });
    EXPECT_TRUE(same_bytes(waveforms, expected.waveforms)) << selection.frame.sizes();
    return flags;
}

at::Tensor noise(at::IntArrayRef sizes, at::ScalarType type) {
    return at::randint(2300, 2400, sizes, at::kInt).to(type);
}

std::vector<std::int64_t> values(const at::Tensor& flags) {
    const at::Tensor longs = flags.to(at::kLong);
    return {longs.const_data_ptr<std::int64_t>(), longs.const_data_ptr<std::int64_t>() + longs.numel()};
}

TEST(RowSelectionKernel, EveryLengthAndTypeOfRow) {
    at::manual_seed(1);
    for (const std::int64_t ticks : row_lengths) {
        for (const auto type : {at::kShort, at::kFloat, at::kDouble}) {
            const auto rails = type == at::kShort ? rails_14 : std::nullopt;
            // Rows are turned round, left out, absent and used twice.
            expect_rows({noise({4, ticks}, type),
                         {3, 1, -1, 0, 1},
                         {{0, 0, 1}, {1, ticks / 3, ticks / 2}, {3, ticks / 2, ticks}, {4, 0, ticks}},
                         rails});
        }
    }
}

TEST(RowSelectionKernel, EveryVerdict) {
    at::manual_seed(2);
    for (const std::int64_t ticks : {1001, 1024}) {
        for (const auto type : {at::kFloat, at::kDouble}) {
            at::Tensor frame = noise({9, ticks}, type);
            frame[0][ticks - 1] = std::numeric_limits<double>::quiet_NaN();
            frame[1][0] = -std::numeric_limits<double>::infinity();
            frame[2][500] = 3e38;
            frame[3][7] = -262145;
            frame[4][7] = 262144; // the largest that is valid
            frame[5].fill_(2350);
            frame[6][3] = std::numeric_limits<double>::quiet_NaN(); // and dead
            frame[8][9] = 3e38;                                     // and not finite
            frame[8][900] = std::numeric_limits<double>::infinity();
            const auto seen = expect_rows(
                {frame, {0, 1, 2, 3, 4, 5, 6, 7, 8, -1}, {{6, -5, ticks}, {7, 0, 4}, {7, 4, ticks + 9}}});
            EXPECT_EQ(values(seen), (std::vector<std::int64_t>{2, 2, 3, 3, 0, constant_row, 2, 4, 2, 1}));
        }
    }
}

TEST(RowSelectionKernel, RailsOfIntegers) {
    at::manual_seed(3);
    for (const std::int64_t ticks : {64, 333}) {
        at::Tensor frame = noise({5, ticks}, at::kShort);
        frame[0][ticks - 1] = 16383;
        frame[1][0] = -3;
        frame[2].fill_(0);
        frame[3][5] = 32767;
        const auto all = std::vector<std::int64_t>{0, 1, 2, 3, 4};
        EXPECT_EQ(values(expect_rows({frame, all, {}, rails_14})),
                  (std::vector<std::int64_t>{saturated_row, saturated_row, saturated_row + constant_row,
                                             saturated_row, 0}));
        EXPECT_EQ(values(expect_rows({frame, all})), (std::vector<std::int64_t>{0, 0, constant_row, 0, 0}));
        expect_rows({frame, all, {}, Rails{0, 65535}}); // -1 as int16
        frame[4][2] = -32768;
        for (const double largest : {3.0, 2399.5, 16383.0, 32766.9, 32767.0, 32768.0}) {
            expect_rows({frame, all, {}, rails_14, largest});
        }
    }
}

TEST(RowSelectionKernel, LinesOverBadTicksRoundAsOnTheHost) {
    at::manual_seed(4);
    for (const auto type : {at::kShort, at::kFloat, at::kDouble}) {
        const at::Tensor frame = type == at::kShort ? at::randint(-32768, 32768, {64, 130}, at::kInt).to(type)
                                                    : at::randn({64, 130}, type) * 3000;
        std::vector<std::int64_t> rows;
        std::vector<ChannelRange> bad;
        for (int row = 0; row < 64; ++row) {
            rows.push_back(63 - row);
            bad.push_back({row, row, 2 * row + 3}); // steps of 4 to 67 ticks
            bad.push_back({row, 128, 129 + row});
            bad.push_back({row, 300, 400}); // beyond the readout
        }
        bad.push_back({10, 20, 29}); // inside another one
        bad.push_back({11, 25, 40}); // touches another one
        expect_rows({frame, rows, bad, std::nullopt, 1e9});
    }
}

TEST(RowSelectionKernel, ManyRowsOfAllKinds) {
    at::manual_seed(5);
    for (const auto type : {at::kShort, at::kFloat}) {
        at::Tensor frame = noise({40, 77}, type);
        std::vector<std::int64_t> rows;
        std::vector<ChannelRange> bad;
        for (int row = 0; row < 60; ++row) {
            rows.push_back(row % 7 == 3 ? -1 : (row * 11) % 40);
            if (row % 3 == 0) {
                bad.push_back({row, row, row + (row % 5) * 20});
            }
            if (row % 2 == 0 && row < 40) {
                frame[row][row] = row % 4 == 0 ? 0 : 30000;
            }
        }
        expect_rows({frame, rows, bad, type == at::kShort ? rails_14 : std::nullopt, 29000});
    }
}

TEST(RowSelectionKernel, NothingToSelect) {
    expect_rows({at::zeros({2, 5}, at::kShort), {}});
    expect_rows({at::zeros({0, 5}, at::kFloat), {-1, -1}});
}

} // namespace
} // namespace spng::testing
