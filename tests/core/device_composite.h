#pragma once
// Calls what a CUDA tensor would be given, on CPU tensors: the dispatcher is asked for the CUDA kernel of one
// of our operators, which is its composite of ATen operations. So the composites are tested where there is no
// device.

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

namespace spng::testing {

template <class Result, class... Arguments>
Result call_composite(const char* operation, Arguments... arguments) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(operation, "")
        .typed<Result(Arguments...)>()
        .redispatch(c10::DispatchKeySet(c10::DispatchKey::CUDA), arguments...);
}

} // namespace spng::testing
