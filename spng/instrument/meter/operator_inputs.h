// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Device.h>

#include <vector>

namespace at {
struct RecordFunction;
}

namespace spng::instrument {

/// Return the devices of the tensor inputs of an operator, in order, lists of tensors included; an in-place target
/// is first. Call from a begin callback that requested inputs.
std::vector<c10::Device> devices_of_inputs(const at::RecordFunction& function);

} // namespace spng::instrument
