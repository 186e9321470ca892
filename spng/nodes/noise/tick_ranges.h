// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bad ticks of channels: from flags to ranges, and straight lines over them (docs/physics-notes.md#bad-ticks).

#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Return the ranges of flagged ticks, at most `count` of them: the last one ends with the last flagged tick.
/// @param flags  (row, tick) bool
/// @return (row, count, 2) int32: begin and end tick (not included), ascending; ticks, ticks for no range
at::Tensor ranges_of(const at::Tensor& flags, std::int64_t count);

/// Return which ticks are in ranges, bool (row, tick).
/// @param ranges  (row, range, 2) integers, at least one range
at::Tensor ticks_in(const at::Tensor& ranges, std::int64_t ticks);

/// Replace the samples in ranges by the straight line between the samples at their sides. A range at an end of the
/// readout becomes the lower median of the samples outside of all ranges, because one sample is a poor baseline for
/// thousands of ticks; a row without such samples does not change.
/// @param waveforms   (..., channel, tick) float32 or float64
/// @param ranges      (..., channel, range, 2) integers: begin and end tick; equal for no range
/// @param picks_rows  true: read which rows have ranges, and change only these; a device would have to wait
/// @return shape and type of `waveforms`; all samples outside of the ranges keep their bits
/// @throws Error(Internal) for other shapes or types
at::Tensor bridge_ranges(const at::Tensor& waveforms, const at::Tensor& ranges, bool picks_rows);

/// Return the bad ticks that the steps have found so far (ChannelTable::bad_ticks), (..., channel, range, 2) int32;
/// undefined without any.
at::Tensor found_bad_ticks(const ChannelTable& channels);

/// Bridge the bad ticks of found_bad_ticks(), all at once because the ranges of several steps may overlap. A step that
/// changes all ticks of a channel calls this for its result. Without bad ticks the result is `waveforms`.
at::Tensor bridge_bad_ticks(const at::Tensor& waveforms, const at::Tensor& found);

} // namespace spng
