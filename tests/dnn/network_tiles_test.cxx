// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/network_tiles.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

using Windows = std::vector<NetworkTile>;

TEST(NetworkTiles, OneTileWithoutCuts) {
    EXPECT_EQ(network_tiles(24, 0, 3, 4), (Windows{{0, 24, 0, 24}}));
    EXPECT_EQ(network_tiles(24, 24, 3, 4), (Windows{{0, 24, 0, 24}}));
}

TEST(NetworkTiles, ChunkGoesDownAndHaloUpToTheMultiple) {
    EXPECT_EQ(network_tiles(24, 10, 3, 4), (Windows{{0, 8, 0, 12}, {8, 16, 4, 20}, {16, 24, 12, 24}}));
}

TEST(NetworkTiles, LastTileIsShorter) {
    EXPECT_EQ(network_tiles(20, 8, 0, 4), (Windows{{0, 8, 0, 8}, {8, 16, 8, 16}, {16, 20, 16, 20}}));
}

TEST(NetworkTiles, HaloLongerThanTheChunkStaysInside) {
    EXPECT_EQ(network_tiles(12, 4, 8, 4), (Windows{{0, 4, 0, 12}, {4, 8, 0, 12}, {8, 12, 0, 12}}));
}

TEST(NetworkTiles, ChunkBelowTheMultipleIsRejected) {
    EXPECT_THROW(network_tiles(24, 3, 0, 4), Error);
}

} // namespace
} // namespace spng
