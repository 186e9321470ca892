// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/transpose.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace {

template <typename Item>
void check(std::int64_t rows, std::int64_t columns) {
    std::vector<Item> from(static_cast<std::size_t>(rows * columns));
    std::vector<Item> to(from.size() + 1, Item{77}); // one more item, to detect a write past the end
    for (std::size_t i = 0; i < from.size(); ++i) {
        from[i] = static_cast<Item>(i * 2654435761u);
    }
    spng::fortran_to_c_order(from.data(), to.data(), rows, columns, sizeof(Item));
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            ASSERT_EQ(to[static_cast<std::size_t>(row * columns + column)],
                      from[static_cast<std::size_t>(column * rows + row)])
                << rows << " x " << columns << ", row " << row << ", column " << column;
        }
    }
    EXPECT_EQ(to.back(), Item{77});
}

} // namespace

TEST(Transpose, IsCorrectAroundTileBorders) {
    for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{
             {1, 1}, {1, 300}, {300, 1}, {64, 127}, {128, 129}, {129, 257}, {300, 255}, {0, 5}, {5, 0}}) {
        check<std::uint8_t>(rows, columns);
        check<std::uint16_t>(rows, columns);
        check<std::uint32_t>(rows, columns);
        check<std::uint64_t>(rows, columns);
    }
}

TEST(Transpose, RejectsOtherItemSizes) {
    char bytes[3] = {};
    EXPECT_THROW(spng::fortran_to_c_order(bytes, bytes, 1, 1, 3), spng::Error);
}
