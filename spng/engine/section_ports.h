// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sets at the ports of a device section that is captured once and launched for many events: the key that
// events must share, input memory at fixed addresses, and outputs for each event.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// Return as text all properties of the inputs that nodes can see on the host: shapes, types, layouts, axes,
/// units, channel tables, sampling and length of the event, and whether it is a readout window. The text leaves
/// out tensor values, the event's ids and masks, and times, of which it only gives which are equal.
std::string port_key(const Ports& inputs);

/// Tensors at fixed addresses with the shapes of one event's sets, into which other events are copied.
class StaticInputs {
public:
    explicit StaticInputs(const Ports& inputs);

    /// Sets of these tensors, with the event, without its findings, and the metadata of the constructor's inputs.
    const Ports& ports() const { return m_ports; }

    /// Queue copies of all tensors.
    /// @param inputs  have the port_key of the constructor's inputs
    void load(const Ports& inputs);

private:
    Ports m_ports;
    std::vector<at::Tensor> m_tensors;
};

/// Outputs for the event of StaticInputs, as a template for other events.
class OutputTemplate {
public:
    /// @param inputs   StaticInputs::ports()
    /// @param outputs  of the nodes for these inputs
    OutputTemplate(const Ports& inputs, Ports outputs);

    /// Reason why these outputs cannot be a template; empty if they can.
    const std::string& rejection() const { return m_rejection; }

    /// Make the sets for the event of `inputs`: queued copies of the output tensors, with the event, the times
    /// and the channel tables of `inputs`.
    Ports fill(const Ports& inputs) const;

private:
    Ports m_inputs;
    Ports m_outputs;
    std::string m_rejection;
};

/// All tensors of the sets, each once: data, summaries, pedestals and masks of good channels.
std::vector<at::Tensor> tensors_of(const Ports& ports);

} // namespace spng
