#pragma once
// The pure step behind SPNGFrameToTorchSetFanout: rows of a frame to rows of a group of views, cleaned.

#include "spng/core/tensor_set.h"
#include "spng/instrument/report/input_report.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Lowest and highest value that the digitiser can give; samples at either are saturated.
struct Rails {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// Largest magnitude that is taken for a sample: 16 times the range of the digitiser, which leaves room for
/// waveforms without their baseline, with a gain of their own or summed, and in which a float32 transform
/// still resolves 0.1 ADC. Integers of 16 bits are always within it for digitisers of 11 bits and more.
/// @param bits  of the digitiser; 0: unknown, taken for 16
double largest_sample(int bits);

struct SelectedChannels {
    at::Tensor waveforms; ///< (view, channel, tick), type of the input
    /// (view, channel) bool on the host: false for rows that are missing, not finite or dead
    at::Tensor good;
    /// What was found, for the channel masks of the output.
    std::vector<ChannelRange> missing, not_finite, out_of_range, saturated;
    std::vector<instrument::ChannelCounts> counts; ///< of each view
};

/// Gather and clean rows in one pass.
/// - A channel that the frame does not have, or with a sample that is not finite or beyond `largest`, becomes
/// a row of zeros that is not good: one
///   NaN, or one number as large as 3e38, would spread over its whole plane through the transform along
///   channels.
/// - `bad` ranges that cover the whole readout make a dead channel, likewise zero. Shorter ones are bridged
/// by the straight
///   line between the samples at their sides.
/// - Saturated samples stay as they are and are listed.
/// @param samples  (row of the frame, tick) int16, float32 or float64 on the host, contiguous
/// @param rows     (view, channel) int64 on the host: which row of the frame, or -1 for none
/// @param ids      (view, channel) int32 on the host: channel numbers, for the lists
/// @param bad      ranges by channel number, in ticks
/// @param rails    none: nothing is saturated
/// @param largest  magnitude of the largest sample that is taken, see largest_sample()
/// @param pinned   allocate the result for asynchronous upload
SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 double largest, bool pinned);

} // namespace spng
