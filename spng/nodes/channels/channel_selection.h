// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of SPNGFrameToTorchSetFanout: gather the rows of a frame into the rows of a view group, clean them, and list
// the findings.

#include "spng/core/tensor_set.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/channels/row_selection.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace spng {

/// Return the largest magnitude that counts as a valid sample: 16 times the range of the digitiser. This
/// leaves room for summed waveforms, and for waveforms without a baseline or with another gain. A float32
/// transform still resolves 0.1 ADC in this range. 16-bit integers are always valid for digitisers of 11 bits
/// and more.
/// @param bits  resolution of the digitiser; 0: unknown, 16 is assumed
double largest_sample(int bits);

/// Return the values at which samples are saturated; empty: not checked. Checked are int16, and on the host float32 if all samples
/// are whole and some are beyond int16: frames of wider integers, in which one wrong sample must not hide the saturated ones.
/// @param bits  resolution of the digitiser; 0: unknown
std::optional<Rails> rails_of(const at::Tensor& samples, int bits);

/// Bad ticks of rows, on the host.
struct BadTicks {
    at::Tensor offsets, ranges; ///< as in RowTable
    at::Tensor is_masked;       ///< (row) bool: the channel has bad ticks
};

/// Find the bad ticks of rows. Ranges are clipped to the readout; those that touch or overlap become one.
/// @param ids    int32 on the host, contiguous: channel id of each row
/// @param bad    tick ranges by channel id
/// @param ticks  of the readout
BadTicks bad_ticks_of(const at::Tensor& ids, const std::vector<ChannelRange>& bad, std::int64_t ticks);

/// Findings for the channel masks of the output, and the counts of the report.
struct ChannelFindings {
    std::vector<ChannelRange> missing, not_finite, out_of_range, saturated;
    std::vector<instrument::ChannelCounts> counts; ///< by view
};

/// List what select_rows has found. Samples are read only in rows with samples at the rails, and in float32 if there are rails.
/// @param flags      (view, channel) uint8 of select_rows, on the host
/// @param samples    (row of the frame, tick): the frame, on the host
/// @param rows       (view, channel) int64 on the host: row of the frame, or -1 for none
/// @param ids        (view, channel) int32 on the host: channel ids for the listed ranges
/// @param is_masked  (view, channel) bool on the host, see BadTicks
/// @param rails      see rails_of()
ChannelFindings findings_of(const at::Tensor& flags, const at::Tensor& samples, const at::Tensor& rows,
                            const at::Tensor& ids, const at::Tensor& is_masked, std::optional<Rails> rails);

struct SelectedChannels {
    at::Tensor waveforms; ///< (view, channel, tick), type of the input
    /// (view, channel) bool on the host: false for rows that are missing, not finite, out of range or dead
    at::Tensor good;
    ChannelFindings findings;
};

/// Gather and clean rows on the host in one pass (select_rows), and list the findings.
/// @param samples  (row of the frame, tick) int16, float32 or float64 on the host, contiguous
/// @param rows     (view, channel) int64 on the host: row of the frame, or -1 for none
/// @param ids      (view, channel) int32 on the host: channel ids for the listed ranges
/// @param bad      tick ranges by channel id
/// @param rails    see rails_of()
/// @param largest  largest valid magnitude, see largest_sample()
SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 double largest);

} // namespace spng
