// SPDX-License-Identifier: Apache-2.0
#pragma once
// Step of SPNGTorchTensorSetToFrameFanin: scatter the rows of views into the rows of a frame.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

struct RowBlock {
    at::Tensor data;     ///< (view, channel, sample) bool or real on the host, each row contiguous
    at::Tensor ids;      ///< (view, channel) int32
    std::int64_t repeat; ///< ticks per sample
};

/// Copy the rows of all blocks to the rows of their channels. Samples are repeated to ticks, and rows cropped
/// or padded with zeros to `ticks`.
/// @param blocks    all bool or all real; each channel at most once
/// @param channels  ascending channel ids of the result
/// @return (channel, ticks) int16 0 and 1 for bool blocks, float32 otherwise; zeros for channels of no block
/// @throws Error(Internal) if a channel is not in `channels`
at::Tensor scatter_rows(const std::vector<RowBlock>& blocks, const std::vector<int>& channels,
                        std::int64_t ticks);

/// Return the position of a channel id in ascending channel ids.
/// @throws Error(Internal) if it is not one of them
std::int64_t position_in(const std::vector<int>& channels, int channel);

/// Copy one value per channel.
/// @param values  (view, channel) float64 on the host
/// @param out     (channel) float64; elements of channels that are not in `ids` stay unchanged
void scatter_values(const at::Tensor& values, const at::Tensor& ids, const std::vector<int>& channels,
                    at::Tensor& out);

} // namespace spng
