// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/section_ports.h"

#include "spng/core/tensor_visitor.h"

#include <algorithm>

namespace spng {

Tables tables_of(const Ports& ports) {
    Tables tables;
    for (const auto& set : ports) {
        for (const auto& tensor : set->tensors()) {
            if (tensor.channels && std::find(tables.begin(), tables.end(), tensor.channels) == tables.end()) {
                tables.push_back(tensor.channels);
            }
        }
    }
    return tables;
}

std::vector<double> times_of(const Ports& inputs) {
    const EventInfo& event = inputs.front()->event();
    std::vector<double> times{0, event.start, event.start + event.first_tick * event.tick};
    for (const auto& set : inputs) {
        for (const auto& tensor : set->tensors()) {
            for (const auto& axis : tensor.axes) {
                if (is_time(axis)) {
                    times.push_back(axis.start);
                }
            }
        }
    }
    return times;
}

std::vector<at::Tensor> tensors_of(const Ports& ports) {
    std::vector<at::Tensor> tensors;
    const auto add = [&](const at::Tensor& tensor, TensorRole role) {
        const bool known = std::any_of(tensors.begin(), tensors.end(),
                                       [&](const at::Tensor& other) { return other.is_same(tensor); });
        if (tensor.defined() && role != TensorRole::host && !known) {
            tensors.push_back(tensor);
        }
    };
    for (const auto& set : ports) {
        for (const auto& tensor : set->tensors()) {
            for_each_tensor(tensor, add);
        }
    }
    for (const auto& table : tables_of(ports)) {
        for_each_tensor(*table, add);
    }
    return tensors;
}

} // namespace spng
