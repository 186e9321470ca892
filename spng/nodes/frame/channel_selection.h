// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of SPNGFrameToTorchSetFanout: gather the rows of a frame into the rows of a view group and clean them.

#include "spng/core/tensor_set.h"
#include "spng/instrument/report/input_report.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Lowest and highest output value of the digitiser. Samples at either rail are saturated.
struct Rails {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// Return the largest magnitude that counts as a valid sample: 16 times the range of the digitiser. This
/// leaves room for summed waveforms, and for waveforms without a baseline or with another gain. A float32
/// transform still resolves 0.1 ADC in this range. 16-bit integers are always valid for digitisers of 11 bits
/// and more.
/// @param bits  resolution of the digitiser; 0: unknown, 16 is assumed
double largest_sample(int bits);

struct SelectedChannels {
    at::Tensor waveforms; ///< (view, channel, tick), type of the input
    /// (view, channel) bool on the host: false for rows that are missing, not finite, out of range or dead
    at::Tensor good;
    /// Findings for the channel masks of the output.
    std::vector<ChannelRange> missing, not_finite, out_of_range, saturated;
    std::vector<instrument::ChannelCounts> counts; ///< by view
};

/// Gather and clean rows in one pass.
/// - A channel becomes a row of zeros with good = false if the frame does not have it, or if one of its
///   samples is not finite or larger than `largest`. One NaN, or one value as large as 3e38, would spread
///   over the whole plane through the transform along channels.
/// - A channel whose `bad` ranges cover the whole readout is dead and becomes zeros too. Shorter ranges are
///   replaced by the straight line between the samples at their sides.
/// - Saturated samples are listed and not changed.
/// @param samples  (row of the frame, tick) int16, float32 or float64 on the host, contiguous
/// @param rows     (view, channel) int64 on the host: row of the frame, or -1 for none
/// @param ids      (view, channel) int32 on the host: channel ids for the listed ranges
/// @param bad      tick ranges by channel id
/// @param rails    empty: do not check for saturated samples
/// @param largest  largest valid magnitude, see largest_sample()
/// @param pinned   allocate the result in page-locked memory for asynchronous upload
SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 double largest, bool pinned);

} // namespace spng
