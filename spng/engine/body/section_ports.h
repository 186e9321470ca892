// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sets at the ports of a device section that is captured once and launched for many events: the key that
// events must share, input memory at fixed addresses, and outputs for each event.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>
#include <c10/util/intrusive_ptr.h>

#include <string>
#include <vector>

namespace spng {

/// Return as text all properties of the inputs that nodes can see on the host: shapes, types, layouts, axes,
/// units, channel tables, sampling and length of the event, and whether it is a readout window. The text leaves
/// out tensor values, the event's ids and masks, and times, of which it only gives which are equal.
std::string port_key(const Ports& inputs);

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

/// Outputs for the event of StaticInputs, as a template for other events.
class OutputTemplate {
public:
    /// @param inputs   StaticInputs::ports()
    /// @param outputs  of the nodes for these inputs
    /// @param is_lent  by port: sets of fill() have the tensors of `outputs` themselves
    OutputTemplate(const Ports& inputs, Ports outputs, std::vector<bool> is_lent);

    /// Reason why these outputs cannot be a template; empty if they can.
    const std::string& rejection() const { return m_rejection; }

    /// Make the sets for the event of `inputs`: the output tensors, or queued copies of them, with the event, the
    /// times and the channel tables of `inputs`.
    Ports fill(const Ports& inputs) const;

private:
    Ports m_inputs;
    Ports m_outputs;
    std::vector<bool> m_is_lent;
    std::string m_rejection;
};

/// All tensors of the sets and their channel tables (for_each_tensor), each once, without those that are always on the
/// host.
std::vector<at::Tensor> tensors_of(const Ports& ports);

} // namespace spng
