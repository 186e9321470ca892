// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copy tensors from a device to the host.

#include <ATen/core/Tensor.h>

namespace spng {

/// Queue a copy to the host on the current stream and return at once. The result is complete when the stream
/// has reached this point (AsynchronousOutput). A copy from CUDA goes to page-locked memory; otherwise it
/// would make the host wait. A tensor on the host is returned unchanged.
at::Tensor begin_copy_to_host(const at::Tensor& tensor);

} // namespace spng
