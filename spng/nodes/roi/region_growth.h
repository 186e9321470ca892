#pragma once
// Regions from seeds (spng.md 5.10b): hysteresis along ticks.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Every maximal run of (level | seeds) along ticks that holds at least one seed, then widened by
/// `pad_before` ticks towards earlier and `pad_after` towards later ones, as far as the row goes.
/// @param seeds  packed masks (pack_ticks), int64 (..., channel, word)
/// @param level  the same shape: where a region may grow
/// @param ticks  of a row; bits past it are 0 in both and in the result
/// @return int64, shape of seeds
/// Throws Error(Internal) when a shape or type is another one or a padding is negative. One operator call:
/// spng::grow_regions.
at::Tensor grow_packed_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                               std::int64_t pad_before, std::int64_t pad_after);

/// The same on bool (..., channel, tick).
at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t pad_before,
                        std::int64_t pad_after);

/// Those maximal runs of `runs` that are confirmed along at least `fraction` of their length, or hold a
/// sample of `lone`.
/// @param runs, confirmed, lone  packed masks of one shape, int64 (..., channel, word)
/// @param fraction  0 to 1
/// @return int64, the same shape
/// Throws Error(Internal) when shapes or types differ. One operator call: spng::confirmed_runs.
at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction);

/// Each tick `factor` (> 0) times: the mask at the rate before rebinning. bool (..., tick) -> (..., tick *
/// factor). Throws Error(Internal) for another type or factor.
at::Tensor upsample_mask(const at::Tensor& mask, std::int64_t factor);

} // namespace spng
