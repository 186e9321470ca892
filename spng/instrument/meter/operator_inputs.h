#pragma once

#include <c10/core/Device.h>

#include <vector>

namespace at {
struct RecordFunction;
}

namespace spng::instrument {

/// Devices of the tensor inputs of an operator, in order, those of lists of tensors included; an in-place
/// target is first. To be called while the operator begins, from a callback that asked for inputs.
std::vector<c10::Device> devices_of_inputs(const at::RecordFunction& function);

} // namespace spng::instrument
