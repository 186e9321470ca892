#pragma once
// The way back from a device.

#include <ATen/core/Tensor.h>

namespace spng {

/// Queue a copy to the host on the current stream, and return before it is done: the result is complete when
/// the stream has come that far (asynchronous_output.h). From CUDA it is page-locked memory, without which
/// the copy would make the host wait. A tensor on the host is returned as it is.
at::Tensor begin_copy_to_host(const at::Tensor& tensor);

} // namespace spng
