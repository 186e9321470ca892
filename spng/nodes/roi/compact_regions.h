// SPDX-License-Identifier: Apache-2.0
#pragma once
// Charge inside ROIs as compacted rows (spng/core/rows/compacted_rows.h).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Return whether SPNGApplyROI compacts its rows on this device.
bool compacts_rows(c10::Device device);

/// The same as apply_regions_linear and apply_regions_restored (rebaseline.h), but the rows of the result are
/// compacted: row r begins with its samples inside the ROIs, one after the other; the rest is undefined.
/// Arguments and errors are the same.
/// One operator call: spng::compact_regions_linear, spng::compact_regions_restored.
at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

namespace kernels { // the bodies on CUDA: spng/kernels/rebaseline.cxx
at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
} // namespace kernels

} // namespace spng
