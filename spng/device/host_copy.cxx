// SPDX-License-Identifier: Apache-2.0
#include "spng/device/host_copy.h"

#include "spng/device/memory/page_locked.h"

namespace spng {

at::Tensor begin_copy_to_host(const at::Tensor& tensor) {
    if (tensor.is_cpu()) {
        return tensor;
    }
    at::Tensor copy = host_tensor(tensor.sizes(), tensor.scalar_type(), tensor.is_cuda());
    return copy.copy_(tensor, /*non_blocking=*/true);
}

void begin_copy_to_device(const at::Tensor& from, const at::Tensor& to) {
    const bool is_ready = !to.is_cuda() || is_page_locked(from);
    to.copy_(is_ready ? from : host_tensor(from.sizes(), from.scalar_type(), true).copy_(from),
             /*non_blocking=*/true);
}

} // namespace spng
