// SPDX-License-Identifier: Apache-2.0
#pragma once
// The byte that select_rows gives for each row. Plain C++ without any header, since the kernel includes it.

namespace spng {

/// Whether a row can be used: the first of these that applies. The value is in the lowest bits of the byte.
enum class Verdict : unsigned char { good, missing, not_finite, out_of_range, dead };
constexpr unsigned verdict_bits = 7;

// Further bits, only of good rows.
constexpr unsigned constant_row = 8;   ///< more than one sample, and all are equal
constexpr unsigned saturated_row = 16; ///< with samples at the rails

} // namespace spng
