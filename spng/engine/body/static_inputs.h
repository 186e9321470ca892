// SPDX-License-Identifier: Apache-2.0
#pragma once
// Input memory of a device section at fixed addresses.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <vector>

namespace spng {

/// Return the sets with all tensors on the device. Queues copies of those that are not.
Ports uploaded(const Ports& sets, c10::Device device);

/// Tensors at fixed addresses on a device with the shapes of one event's sets, into which other events are copied.
class StaticInputs {
public:
    /// @param inputs  on the device or on the host
    StaticInputs(const Ports& inputs, c10::Device device);

    /// Sets of these tensors, with the metadata of the constructor's inputs. If one of their times is 0, all
    /// times are later by a constant.
    const Ports& ports() const { return m_ports; }

    /// Queue copies of all tensors but those on the device that the latest call has copied, such as tables.
    /// @param inputs  have the port_key of the constructor's inputs
    void load(const Ports& inputs);

private:
    Ports m_ports;
    std::vector<at::Tensor> m_tensors;
    /// The sources of m_tensors, as far as they still exist.
    std::vector<c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>> m_loaded;
};

} // namespace spng
