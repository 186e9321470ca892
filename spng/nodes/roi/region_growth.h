// SPDX-License-Identifier: Apache-2.0
#pragma once
// Grow ROIs from seeds, by hysteresis along ticks (docs/physics-notes.md#roi-growth). Nodes call find_regions();
// grow_packed_regions() and confirmed_runs() are its parts on the CPU.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Return every maximal run of (level | seeds) along ticks that holds at least one seed, widened by
/// `pad_before` earlier and `pad_after` later ticks within the row.
/// @param seeds  (..., channel, word) int64 on the host, packed masks (pack_ticks)
/// @param level  mask of the ticks to which an ROI may grow, same shape
/// @param ticks  length of a row; later bits are 0 in both masks and in the result
/// @return int64, shape of `seeds`
/// @throws Error(Internal) for other shapes or types, or a negative padding
at::Tensor grow_packed_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                               std::int64_t pad_before, std::int64_t pad_after);

/// Do the same with masks (..., channel, tick) bool.
at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t pad_before,
                        std::int64_t pad_after);

/// Return the maximal runs of `runs` that are confirmed along at least `fraction` of their length, or contain
/// a sample of `lone`.
/// @param runs, confirmed, lone  (..., channel, word) int64 on the host, packed masks of one shape
/// @param ticks     length of a row
/// @param fraction  0 to 1
/// @return int64, the same shape
/// @throws Error(Internal) if shapes or types differ
at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction);

/// Masks of a list of levels: bit k is the OR of the set with level k.
using LevelSet = std::uint64_t;
constexpr std::int64_t max_level_sets = 63; ///< levels that a set may name

/// ROIs that grow from seeds of some levels in another level.
struct RegionPass {
    LevelSet seeds = 0;
    LevelSet lone = 0;             ///< seeds that need no confirmation
    std::int64_t grow = 0;         ///< level to which the seeds grow along ticks
    double confirmed_fraction = 0; ///< of the grown run; 0: the seed must be confirmed
};

/// How the ROIs of a channel follow from its levels and from those of its neighbours.
struct RegionRule {
    std::vector<RegionPass> passes = {};
    LevelSet always = 0; ///< in the ROIs without a seed
    /// Level in which confirmed samples beside an ROI of the first pass belong to the ROIs too. Seeds of that pass beside
    /// such an ROI need no confirmation. -1: neither.
    std::int64_t beside = -1;
    bool cyclic = false;  ///< the last channel of a view is next to its first (wrapped planes)
    std::int64_t pad = 0; ///< ticks added to both ends of every ROI
};

/// Return the ROIs of each channel,
///     pad(OR_p runs_p | OR_k level_k | (near & confirmed & level_b) | grown(seeds_0 & near)), near = beside(runs_0),
/// where runs_p are the runs of grow_packed_regions() from the seeds of pass p in its level. With `confirmed`,
/// the seeds or the runs (confirmed_runs) must be confirmed, unless a seed of `lone` is in the run; grown() is that of
/// the first pass.
/// beside() is the OR of a row and the rows of the neighbouring channels in its view.
/// @param levels     (level, view, channel, word) int64 from pack_levels()
/// @param confirmed  the OR of these masks (view, channel, word) int64 confirms; empty: no confirmation is needed
/// @param ticks      length of a row
/// @return (view, channel, word) int64
/// @throws Error(Internal) if shapes or types differ, for an unknown level, a fraction outside of [0, 1], a
///         negative padding, or a rule with `beside` and no pass or confirmation
/// One operator call: spng::find_regions.
at::Tensor find_regions(const at::Tensor& levels, const std::vector<at::Tensor>& confirmed,
                        const RegionRule& rule, std::int64_t ticks);

namespace kernels { // the body on CUDA: spng/kernels/region_growth.cxx
at::Tensor find_regions(const at::Tensor& levels, at::TensorList confirmed, std::int64_t ticks,
                        at::IntArrayRef seeds, at::IntArrayRef lone, at::IntArrayRef grow,
                        at::ArrayRef<double> fractions, std::int64_t always, std::int64_t beside, bool cyclic,
                        std::int64_t pad);
} // namespace kernels

/// Repeat each sample of a mask `factor` times: bool (..., tick) -> (..., tick * factor).
/// @throws Error(Internal) for another type, or a factor below 1
at::Tensor upsample_mask(const at::Tensor& mask, std::int64_t factor);

} // namespace spng
