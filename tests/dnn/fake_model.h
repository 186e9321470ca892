// SPDX-License-Identifier: Apache-2.0
#pragma once
// Model made of a function, for tests without TorchScript.

#include "spng/nodes/dnn/model.h"

#include <functional>
#include <utility>

namespace spng::test {

class FakeModel : public Model {
public:
    using Function = std::function<at::Tensor(const at::Tensor&)>;
    explicit FakeModel(Function function, ModelMetadata metadata = {})
        : Model(std::move(metadata), "fake-model.ts"), m_function(std::move(function)) {}

    at::Tensor forward(const at::Tensor& input) const override { return m_function(input); }

private:
    Function m_function;
};

} // namespace spng::test
