// SPDX-License-Identifier: Apache-2.0
#pragma once
// Rows of which only the samples inside ROIs are stored (CompactedRows, spng/core/tensor_set.h). On a device they
// replace the rows with zeros outside, which would be written, read and copied for nothing.

#include "spng/core/tensor_set.h"

namespace spng {

/// Return whether SPNGApplyROI compacts its rows on this device.
bool compacts_rows(c10::Device device);

/// The same as apply_regions_linear and apply_regions_restored (rebaseline.h), but row r of the result begins with
/// its samples inside the ROIs, one after the other; the rest is undefined.
/// Arguments and errors are the same.
/// One operator call: spng::compact_regions_linear, spng::compact_regions_restored.
at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

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

namespace kernels { // the bodies on CUDA: spng/kernels/rebaseline.cxx
at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);
at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);
} // namespace kernels

/// Return all samples of a tensor, in whichever of its forms it is: `data`, a packed mask, compacted rows or sparse
/// samples. Does not copy `data`.
at::Tensor dense_tensor(const NamedTensor& tensor);

} // namespace spng
