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
        : m_function(std::move(function)), m_metadata(std::move(metadata)) {}

    at::Tensor forward(const at::Tensor& input) const override { return m_function(input); }
    const ModelMetadata& metadata() const override { return m_metadata; }
    const std::string& file() const override { return m_file; }

private:
    Function m_function;
    ModelMetadata m_metadata;
    std::string m_file = "fake-model.ts";
};

} // namespace spng::test
