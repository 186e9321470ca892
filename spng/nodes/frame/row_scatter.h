#pragma once
// The pure step behind SPNGTorchTensorSetToFrameFanin: rows of views to rows of a frame.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

struct RowBlock {
    at::Tensor data;     ///< (view, channel, sample) bool or real on the host, each row contiguous
    at::Tensor ids;      ///< (view, channel) int32
    std::int64_t repeat; ///< ticks of one sample
};

/// Place the rows of all blocks by channel number; samples are repeated to ticks, cropped or zero-filled to
/// `ticks`.
/// @param blocks    all bool or all real, no channel twice
/// @param channels  ascending channel numbers of the result
/// @return (channel, ticks) int16 for bool blocks (0 and 1), float32 otherwise; zero rows for channels that
/// no block has Throws Error(Internal) for a channel that is not in `channels`.
at::Tensor scatter_rows(const std::vector<RowBlock>& blocks, const std::vector<int>& channels,
                        std::int64_t ticks);

/// Position of a channel in ascending channel numbers. Throws Error(Internal) when it is not among them.
std::int64_t position_in(const std::vector<int>& channels, int channel);

/// Place one value per channel.
/// @param values  (view, channel) float64 on the host
/// @param out     (channel) float64, changed where `ids` says
void scatter_values(const at::Tensor& values, const at::Tensor& ids, const std::vector<int>& channels,
                    at::Tensor& out);

} // namespace spng
