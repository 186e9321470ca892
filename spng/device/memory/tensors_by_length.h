// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of tensors that a node computes once per readout length: deconvolution kernels, filters.

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace spng {

/// Keeps the latest tensor on the CPU and all tensors on a device: queued work of other events may still read
/// an earlier one, and captured graphs read it as long as the job runs. Thread-safe.
class TensorsByLength {
public:
    /// Return the tensor of this length; every stream may read it.
    /// @param make  called if there is none yet; returns a tensor on `device`
    at::Tensor get(std::int64_t length, c10::Device device, const std::function<at::Tensor()>& make);

private:
    std::mutex m_mutex;
    std::map<std::int64_t, at::Tensor> m_tensors;
};

} // namespace spng
