// SPDX-License-Identifier: Apache-2.0
// The layout of at::RecordFunction depends on NDEBUG, and LibTorch is built with it: without it, inputs()
// would read at the wrong offset. So this file defines it in debug builds too.
#ifndef NDEBUG
#define NDEBUG
#endif

#include "spng/instrument/meter/operator_inputs.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

namespace spng::instrument {

std::vector<c10::Device> devices_of_inputs(const at::RecordFunction& function) {
    std::vector<c10::Device> devices;
    const auto add = [&devices](const at::Tensor& tensor) {
        if (tensor.defined()) {
            devices.push_back(tensor.device());
        }
    };
    for (const auto& input : function.inputs()) {
        if (input.isTensor()) {
            add(input.toTensor());
        } else if (input.isTensorList()) {
            for (const at::Tensor& tensor : input.toTensorVector()) {
                add(tensor);
            }
        }
    }
    return devices;
}

} // namespace spng::instrument
