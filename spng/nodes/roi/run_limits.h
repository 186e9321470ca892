// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limits of the ROIs of a mask, for compositions of ATen operations.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// The ROI of each sample of a mask; undefined values outside of ROIs. All int64 of the shape of the mask.
struct RunLimits {
    at::Tensor first;      ///< first sample
    at::Tensor end;        ///< first sample after the ROI
    at::Tensor gap_before; ///< samples between the previous ROI and this one
    at::Tensor gap_after;  ///< samples between this ROI and the next one
};

/// Return the limits of the maximal runs along the last axis.
/// @param inside  (..., sample) bool, at least one sample
/// @param no_gap  gap of an ROI without a previous or next one
RunLimits run_limits(const at::Tensor& inside, std::int64_t no_gap);

} // namespace spng
