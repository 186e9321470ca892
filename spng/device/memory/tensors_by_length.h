#pragma once
// What a node computes once for each length of readout and keeps: kernels, filters.

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace spng {

/// On the CPU the latest is kept. On a device all are: the work of other events that reads an earlier one may
/// still be queued on their streams, and recorded graphs read it for as long as the job runs. Thread-safe.
class TensorsByLength {
public:
    /// @param make  called when there is none for this length
    /// @return a tensor on `device` that every stream may read
    at::Tensor get(std::int64_t length, c10::Device device, const std::function<at::Tensor()>& make);

private:
    std::mutex m_mutex;
    std::map<std::int64_t, at::Tensor> m_tensors;
};

} // namespace spng
