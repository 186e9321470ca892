// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/tensors_by_length.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace spng {

at::Tensor TensorsByLength::get(std::int64_t length, c10::Device device,
                                const std::function<at::Tensor()>& make) {
    const std::lock_guard lock(m_mutex);
    const auto found = m_tensors.find(length);
    if (found != m_tensors.end()) {
        return found->second;
    }
    if (device.is_cpu()) {
        m_tensors.clear();
    }
    at::Tensor tensor = make().to(device);
    if (!device.is_cpu()) {
        // Wait once per length, so that other streams do not read the tensor before this one has written it.
        const c10::impl::VirtualGuardImpl guard(device.type());
        guard.synchronizeStream(guard.getStream(device));
    }
    m_tensors.emplace(length, tensor);
    return tensor;
}

} // namespace spng
