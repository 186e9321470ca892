// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copy tensors between host and device without waiting.

#include <ATen/core/Tensor.h>

namespace spng {

/// Queue a copy to the host on the current stream and return at once. The result is complete when the stream
/// has reached this point. A copy from CUDA goes to page-locked memory; otherwise it
/// would make the host wait. A tensor on the host is returned unchanged.
at::Tensor begin_copy_to_host(const at::Tensor& tensor);

/// Queue a copy to a device on the current stream and return at once. Ordinary memory is copied to page-locked
/// memory first; otherwise it would make the host wait.
/// @param from  on the host
/// @param to    on the device, of the same shape and type
void begin_copy_to_device(const at::Tensor& from, const at::Tensor& to);

} // namespace spng
