// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/library.h>

#include <string>
#include <type_traits>

namespace spng {

/// One of our operators, which LibTorch calls by the device of its tensors and shows in profiles. One constant beside
/// the CPU body declares it:
///
///     const Operator sum_of_neighbours_op{"sum_of_neighbours(Tensor waveform, bool cyclic) -> Tensor",
///                                         sum_of_neighbours_cpu, kernels::sum_of_neighbours};
///
/// Nodes call the function of the header, which checks the arguments and calls this constant. Python has the operator as
/// torch.ops.spng.sum_of_neighbours.
template <class Result, class... Arguments>
class Operator {
public:
    /// @param schema  name, arguments and results in LibTorch's language
    /// @param cuda    null: there is none, and a call for a device is an error
    Operator(const char* schema, Result (*cpu)(Arguments...),
             std::type_identity_t<Result (*)(Arguments...)> cuda = nullptr)
        : m_library(torch::Library::FRAGMENT, "spng", std::nullopt, __FILE__, __LINE__),
          m_handle(define(schema, cpu, cuda)) {}

    Result operator()(Arguments... arguments) const { return m_handle.call(arguments...); }

private:
    using Handle = c10::TypedOperatorHandle<Result(Arguments...)>;

    Handle define(const std::string& schema, Result (*cpu)(Arguments...), Result (*cuda)(Arguments...)) {
        const std::string name = schema.substr(0, schema.find('('));
        m_library.def(schema.c_str());
        m_library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CPU, cpu));
        if (cuda != nullptr) {
            m_library.impl(name.c_str(), torch::dispatch(c10::DispatchKey::CUDA, cuda));
        }
        return c10::Dispatcher::singleton()
            .findSchemaOrThrow(("spng::" + name).c_str(), "")
            .template typed<Result(Arguments...)>();
    }

    torch::Library m_library; // takes the operator back when it is destroyed
    Handle m_handle;
};

} // namespace spng
