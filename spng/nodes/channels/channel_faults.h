// SPDX-License-Identifier: Apache-2.0
#pragma once
// Find dead and noisy channels from the noise of their waveforms (docs/physics-notes.md#dead-and-noisy-channels).

#include "spng/core/tensor_set.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

/// Noise that front-end boards share, in the waveforms by which channels are judged.
enum class SharedNoise {
    none,    ///< the boards share none, or they are not known
    kept,    ///< it is part of the waveforms: a channel with much noise may be good
    removed, ///< it was subtracted: little noise may be that of a low gain
};

struct ChannelFaultRule {
    double min_rms = 0.5; ///< a channel with less noise is dead [expected noise]
    double max_rms = 2;   ///< a channel with more noise is noisy [expected noise]
    /// The noise of a view may be larger or smaller than that of the spectra by this factor.
    double max_level = 2;
    std::int64_t block = 500; ///< the RMS is measured in blocks of so many ticks
    SharedNoise shared_noise = SharedNoise::none;
};

/// Expected noise of the channels of a group.
struct ExpectedNoise {
    at::Tensor rms; ///< (view, channel) [ADC]; undefined: unknown
    at::Tensor low,
        high; ///< (view, channel) [ADC]: limits that replace those of the rule, NaN: none; both undefined: none
};

/// Compare the noise of each channel with the expected noise.
///
/// The waveform is divided into n blocks; a rest shorter than a block is not used. robust_noise() gives the RMS of
/// each block. The lower and the upper quartile are those with rank floor((n - 1) / 4) from below and from above.
/// A track that fills up to three quarters of the readout therefore leaves the lower quartile alone, and a
/// channel that is alive for more than a quarter of the readout has noise in the upper one.
///     level = median over the good channels of a view with a lower quartile above 0 of (lower quartile / rms)
/// within 1 / max_level and max_level; without expected noise rms is 1, and the level has no limit. A channel is
/// - noisy if its lower quartile exceeds max_rms max(level, 1) rms, or its own limit `high`;
/// - dead if its upper quartile is at most min_rms min(level, 1) rms, or below its own limit `low`.
/// So the other channels of a view may excuse a channel but never accuse it; without expected noise both limits have the
/// level itself. No channel is noisy by waveforms that keep shared noise. By waveforms without it a channel is dead only
/// at half of min_rms, and `low` does not count.
/// The host does not wait for the device.
/// @param waveforms  (view, channel, tick) int16, float32 or float64; finite where good
/// @param good       (view, channel) bool
/// @return (view, channel) uint8 ChannelFault; `none` for channels that are not good, and for all of a readout of
/// less than 64 ticks
/// @throws Error(Internal) for other shapes or types
at::Tensor channel_faults(const at::Tensor& waveforms, const at::Tensor& good, const ExpectedNoise& expected,
                          const ChannelFaultRule& rule = {});

/// Add faults to the masks of an event: dead and noisy channels to "bad", noisy ones also to "noisy", for the whole
/// readout. Both masks are sorted by channel then, and overlapping ranges are merged.
/// @param ids       (view, channel) int32 on the host
/// @param faults    (view, channel) uint8 ChannelFault on the host
/// @param channels  of the frame, ascending; faults of other channels are left out
void add_faults(ChannelMasks& masks, const at::Tensor& ids, const at::Tensor& faults,
                const std::vector<int>& channels, std::int64_t ticks);

} // namespace spng
