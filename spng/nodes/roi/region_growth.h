// SPDX-License-Identifier: Apache-2.0
#pragma once
// Grow ROIs from seeds, by hysteresis along ticks (docs/physics-notes.md#roi-growth).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Return every maximal run of (level | seeds) along ticks that holds at least one seed, widened by
/// `pad_before` earlier and `pad_after` later ticks within the row.
/// @param seeds  (..., channel, word) int64, packed masks (pack_ticks)
/// @param level  mask of the ticks to which an ROI may grow, same shape
/// @param ticks  length of a row; later bits are 0 in both masks and in the result
/// @return int64, shape of `seeds`
/// @throws Error(Internal) for other shapes or types, or a negative padding
/// One operator call: spng::grow_regions.
at::Tensor grow_packed_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                               std::int64_t pad_before, std::int64_t pad_after);

/// Do the same with masks (..., channel, tick) bool.
at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t pad_before,
                        std::int64_t pad_after);

/// Return the maximal runs of `runs` that are confirmed along at least `fraction` of their length, or contain
/// a sample of `lone`.
/// @param runs, confirmed, lone  (..., channel, word) int64, packed masks of one shape
/// @param ticks     length of a row
/// @param fraction  0 to 1
/// @return int64, the same shape
/// @throws Error(Internal) if shapes or types differ
/// One operator call: spng::confirmed_runs.
at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction);

/// Repeat each sample of a mask `factor` times: bool (..., tick) -> (..., tick * factor).
/// @throws Error(Internal) for another type, or a factor below 1
at::Tensor upsample_mask(const at::Tensor& mask, std::int64_t factor);

} // namespace spng
