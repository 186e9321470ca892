// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies for devices that are made of ATen operations run on CPU tensors in the tests, which also check that they never
// make the host wait for a device.

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace spng::testing {

/// Scope guard that fails the test if an operation of this thread would wait for a device: one that reads a
/// value, or whose output size depends on values.
class NothingWaits {
public:
    NothingWaits()
        : m_handle(at::addThreadLocalCallback(
              at::RecordFunctionCallback(&begins).scopes({at::RecordScope::FUNCTION}))) {}
    ~NothingWaits() { at::removeCallback(m_handle); }
    NothingWaits(const NothingWaits&) = delete;
    NothingWaits& operator=(const NothingWaits&) = delete;

private:
    static std::unique_ptr<at::ObserverContext> begins(const at::RecordFunction& function) {
        constexpr std::array<std::string_view, 15> waiting{"aten::item",          "aten::_local_scalar_dense",
                                                           "aten::is_nonzero",    "aten::equal",
                                                           "aten::nonzero",       "aten::argwhere",
                                                           "aten::masked_select", "aten::unique_dim",
                                                           "aten::_unique",       "aten::_unique2",
                                                           "aten::bincount",      "aten::allclose",
                                                           "aten::nonzero_numpy", "aten::unique_consecutive",
                                                           "aten::histc"};
        const std::string_view name = function.name();
        if (std::find(waiting.begin(), waiting.end(), name) != waiting.end()) {
            ADD_FAILURE() << name << " waits for the device";
        }
        return nullptr;
    }
    at::CallbackHandle m_handle;
};

} // namespace spng::testing
