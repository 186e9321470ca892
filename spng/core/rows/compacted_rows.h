// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of which only the samples inside ROIs are stored (CompactedRows, spng/core/tensor_set.h). On a device they
// replace the rows with zeros outside, which would be written, read and copied for nothing.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Move the samples inside the ROIs of dense rows to the beginnings of the rows, on the CPU.
/// Arguments as for expand_rows, not checked; zeros follow the samples.
at::Tensor compacted_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);

/// Put the samples of compacted rows to their ticks; 0 outside the ROIs.
/// @param rows    (..., channel, tick) float32 or float64, compacted
/// @param mask    (..., channel, word) int64, packed by pack_ticks
/// @param factor  ticks per slice of the mask
/// @return shape and type of `rows`
/// @throws Error(Internal) if shapes or types do not fit
/// One operator call: spng::expand_rows.
at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);

/// Copy compacted rows; of each row only the samples inside the ROIs.
/// Arguments, result and errors as for expand_rows; the result is compacted too.
/// One operator call: spng::copy_compacted.
at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);

/// Return the number of slices of `factor` ticks that hold the ticks; the last slice may have fewer.
std::int64_t slices_of(std::int64_t ticks, std::int64_t factor);

/// Check the arguments of an operator on rows and the ROIs in them, as for expand_rows.
/// @throws Error(Internal) that names the operation
void require_rows_and_mask(const char* operation, const at::Tensor& rows, const at::Tensor& mask,
                           std::int64_t factor);

namespace kernels { // the bodies on CUDA: spng/kernels/rebaseline.cxx
at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);
at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);
} // namespace kernels

} // namespace spng
