// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace spng {

/// Return an uninitialised tensor whose rows, along the last axis, begin at multiples of 64 bytes, so that
/// kernels which read parts of a row of this size read whole sectors of memory.
at::Tensor empty_with_aligned_rows(at::IntArrayRef sizes, const at::TensorOptions& options);

} // namespace spng
