// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/operators/active_operator.h"

#include "tests/cuda_simulator/simulator.h"

#include <algorithm>
#include <utility>

namespace cuda_simulator {
namespace {

thread_local ActiveOperator* innermost = nullptr;

} // namespace

ActiveOperator::ActiveOperator(std::string name, std::vector<at::Tensor> arguments)
    : m_name(std::move(name)), m_arguments(std::move(arguments)), m_outer(innermost),
      m_kernels_before(kernels_of_thread()) {
    innermost = this;
}

ActiveOperator::~ActiveOperator() {
    innermost = m_outer;
    if (m_outer != nullptr) {
        m_outer->m_kernels_of_others += kernels_of_thread() - m_kernels_before;
    }
}

const ActiveOperator* ActiveOperator::current() {
    return innermost;
}

std::uint64_t ActiveOperator::own_kernels() const {
    return kernels_of_thread() - m_kernels_before - m_kernels_of_others;
}

std::size_t bytes_of_elements(const at::Tensor& tensor) {
    if (tensor.numel() == 0) {
        return 0;
    }
    std::size_t bytes = tensor.element_size();
    for (std::int64_t i = 0; i < tensor.dim(); ++i) {
        bytes *= tensor.stride(i) == 0 ? 1 : static_cast<std::size_t>(tensor.size(i));
    }
    return bytes;
}

bool simulated_operator_is_active() {
    return innermost != nullptr;
}

std::size_t simulated_operator_bytes_in_tensor(const void* address) {
    for (const ActiveOperator* active = innermost; active != nullptr; active = active->m_outer) {
        for (const at::Tensor& tensor : active->m_arguments) {
            const auto* const begin = static_cast<const std::byte*>(tensor.const_data_ptr());
            const auto* const wanted = static_cast<const std::byte*>(address);
            const std::size_t bytes = bytes_of_elements(tensor);
            if (wanted >= begin && wanted < begin + bytes) {
                return static_cast<std::size_t>(begin + bytes - wanted);
            }
        }
    }
    return 0;
}

} // namespace cuda_simulator
