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

} // namespace spng
