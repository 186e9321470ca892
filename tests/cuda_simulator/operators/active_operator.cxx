// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/operators/active_operator.h"

#include <utility>

namespace cuda_simulator {
namespace {

thread_local const ActiveOperator* innermost = nullptr;

} // namespace

ActiveOperator::ActiveOperator(std::string name) : m_name(std::move(name)), m_outer(innermost) {
    innermost = this;
}

ActiveOperator::~ActiveOperator() {
    innermost = m_outer;
}

const ActiveOperator* ActiveOperator::current() {
    return innermost;
}

bool simulated_operator_is_active() {
    return innermost != nullptr;
}

} // namespace cuda_simulator
