// SPDX-License-Identifier: Apache-2.0
// Frames assembled by device operations equal those assembled on the host.

#include "spng/nodes/frame/device_row_scatter.h"

#include "tests/support/components.h"

#include <ATen/ops/rand.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace spng {
namespace {

const std::vector<int> channels{10, 11, 12, 13, 14, 15, 16};

at::Tensor ids(std::initializer_list<int> values, std::int64_t views) {
    return at::tensor(std::vector<int>(values), at::kInt).view({views, -1});
}

std::vector<RowBlock> blocks() {
    return {{at::rand({2, 2, 8}), ids({16, 11, 10, 14}, 2), 1},
            {at::rand({1, 2, 3}), ids({15, 12}, 1), 4}}; // 12 ticks, of which 8 are used
}

TEST(DeviceRowScatter, EqualsTheHostsForReals) {
    const auto input = blocks();
    const RowPositions positions(channels);
    for (const std::int64_t ticks : {5, 8, 20}) {
        const at::Tensor seen = scatter_rows_on_device(input, positions, ticks, at::kFloat);
        EXPECT_TRUE(seen.equal(scatter_rows(input, channels, ticks))) << ticks;
        EXPECT_TRUE(seen[3].eq(0).all().item<bool>()); // channel 13 is in no block
    }
}

TEST(DeviceRowScatter, EqualsTheHostsForMasks) {
    auto input = blocks();
    for (auto& block : input) {
        block.data = block.data.gt(0.5);
    }
    const at::Tensor seen = scatter_rows_on_device(input, RowPositions(channels), 8, at::kShort);
    EXPECT_EQ(seen.scalar_type(), at::kShort);
    EXPECT_TRUE(seen.equal(scatter_rows(input, channels, 8)));
}

TEST(DeviceRowScatter, PositionsAreMadeOnce) {
    const RowPositions positions(channels);
    const at::Tensor table = ids({16, 11, 10, 14}, 2);
    const at::Tensor first = positions.of(table, c10::kCPU);
    EXPECT_TRUE(first.equal(at::tensor(std::vector<std::int64_t>{6, 1, 0, 4})));
    EXPECT_TRUE(positions.of(table, c10::kCPU).is_same(first));
    EXPECT_TRUE(positions.of(table.narrow(0, 0, 1), c10::kCPU).equal(first.narrow(0, 0, 2)));
    EXPECT_TRUE(positions.of(table.narrow(0, 1, 1), c10::kCPU).equal(first.narrow(0, 2, 2)));
}

TEST(DeviceRowScatter, ForeignChannelIsRejected) {
    const RowPositions positions(channels);
    const Error error = test::error_of([&] { positions.of(ids({10, 99}, 1), c10::kCPU); });
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_NE(std::string(error.what()).find("99"), std::string::npos) << error.what();
}

} // namespace
} // namespace spng
