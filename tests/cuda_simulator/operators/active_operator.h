// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether the thread is inside a kernel of LibTorch whose numbers the simulator computes.

#include <string>

namespace cuda_simulator {

/// While it lives, the kernels, copies on the device and fills that the thread launches compute nothing.
class ActiveOperator {
public:
    explicit ActiveOperator(std::string name);
    ~ActiveOperator();
    ActiveOperator(const ActiveOperator&) = delete;
    ActiveOperator& operator=(const ActiveOperator&) = delete;
    ActiveOperator(ActiveOperator&&) = delete;
    ActiveOperator& operator=(ActiveOperator&&) = delete;

    /// Return the innermost one of the thread, or null.
    static const ActiveOperator* current();

    const std::string& name() const { return m_name; }

private:
    std::string m_name;
    const ActiveOperator* m_outer;
};

/// For the simulated runtime, which finds it by name.
extern "C" bool simulated_operator_is_active();

} // namespace cuda_simulator
