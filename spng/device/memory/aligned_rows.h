// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace spng {

/// Return an uninitialised tensor whose rows, along the last axis, begin at multiples of 64 bytes, so that
/// kernels which read parts of a row of this size read whole sectors of memory. It is not contiguous if a row has
/// another length.
/// @param sizes    at least one axis
/// @param options  of a type whose item size divides 64
at::Tensor empty_with_aligned_rows(at::IntArrayRef sizes, const at::TensorOptions& options);

/// Return a copy on a device with such rows. One upload; no kernel is launched.
/// @param host  at least one axis, on the host
at::Tensor uploaded_with_aligned_rows(const at::Tensor& host, c10::Device device);

} // namespace spng
