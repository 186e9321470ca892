#include "spng/device/host_copy.h"

#include <ATen/ops/empty.h>

namespace spng {

at::Tensor begin_copy_to_host(const at::Tensor& tensor) {
    if (tensor.is_cpu()) {
        return tensor;
    }
    const auto options = tensor.options().device(at::kCPU).pinned_memory(tensor.is_cuda());
    at::Tensor copy = at::empty(tensor.sizes(), options);
    return copy.copy_(tensor, /*non_blocking=*/true);
}

} // namespace spng
