// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the thread is inside a kernel of LibTorch whose numbers the simulator computes.

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda_simulator {

/// For the simulated runtime: bytes_in_tensor().
extern "C" std::size_t simulated_operator_bytes_in_tensor(const void* address);

/// While it lives, the kernels, copies on the device and fills that the thread launches compute nothing.
class ActiveOperator {
public:
    /// @param arguments  the tensors that the operator is called with
    explicit ActiveOperator(std::string name, std::vector<at::Tensor> arguments = {});
    ~ActiveOperator();
    ActiveOperator(const ActiveOperator&) = delete;
    ActiveOperator& operator=(const ActiveOperator&) = delete;
    ActiveOperator(ActiveOperator&&) = delete;
    ActiveOperator& operator=(ActiveOperator&&) = delete;

    /// Return the innermost one of the thread, or null.
    static const ActiveOperator* current();

    const std::string& name() const { return m_name; }

    /// Number of kernels that the operator has launched itself, not by operators that it calls.
    std::uint64_t own_kernels() const;

private:
    friend std::size_t simulated_operator_bytes_in_tensor(const void* address);

    std::string m_name;
    std::vector<at::Tensor> m_arguments;
    ActiveOperator* m_outer;
    std::uint64_t m_kernels_before, m_kernels_of_others = 0;
};

/// Bytes of the elements of a tensor, each once: dimensions without a stride repeat elements.
std::size_t bytes_of_elements(const at::Tensor& tensor);

/// For the simulated runtime, which finds it by name.
extern "C" bool simulated_operator_is_active();

} // namespace cuda_simulator
