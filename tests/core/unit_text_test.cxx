// SPDX-License-Identifier: Apache-2.0
// Amounts with units.

#include "spng/core/unit_text.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(Units, HaveThreeDigits) {
    EXPECT_EQ(format_nanoseconds(0), "0");
    EXPECT_EQ(format_nanoseconds(850), "850 ns");
    EXPECT_EQ(format_nanoseconds(1'234'567), "1.23 ms");
    EXPECT_EQ(format_nanoseconds(61'440'000), "61.4 ms");
    EXPECT_EQ(format_nanoseconds(999'700), "1.00 ms");
    EXPECT_EQ(format_nanoseconds(75'000'000'000), "75.0 s");
    EXPECT_EQ(format_nanoseconds(3'600'000'000'000), "3600 s");
    EXPECT_EQ(format_bytes(0), "0");
    EXPECT_EQ(format_bytes(12), "12 B");
    EXPECT_EQ(format_bytes(61'440'000), "61.4 MB");
    EXPECT_EQ(format_bytes(123'456'789), "123 MB");
    EXPECT_EQ(format_bytes(1'500'000'000'000), "1.50 TB");
}

TEST(Units, RoundedUpAmountIsEnough) {
    EXPECT_EQ(three_digits_above(429'400'001), 430'000'000);
    EXPECT_EQ(three_digits_above(429'000'000), 429'000'000);
    EXPECT_EQ(three_digits_above(999'001), 1'000'000);
    EXPECT_EQ(three_digits_above(12), 12);
}

} // namespace
} // namespace spng
