// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace spng {

/// Return the handle of an operator, whose call() runs the implementation for the device of its tensors.
/// Looking it up takes a lock, so keep the handle.
/// @tparam Signature  of the implementations, such as decltype(pack_ticks_cpu)
template <class Signature>
c10::TypedOperatorHandle<Signature> find_operator(const char* name) {
    return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

} // namespace spng
