#pragma once
// The sets at the ports of a part of a graph that is recorded once and launched for many events: what must be
// equal for that, memory that stays in place, and what belongs to each event.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

/// All that nodes may see of their inputs on the host, as text: shapes, types, layouts, axes, units, channel
/// tables, sampling and length of the event, whether it is a window of a long readout. Left out are the
/// values of tensors, the event's numbers and masks, and points in time, of which only is in the text which
/// of them are the same.
std::string port_key(const Ports& inputs);

/// Tensors of the same shapes as those of one event's sets, into which those of other events are copied.
class StaticInputs {
public:
    explicit StaticInputs(const Ports& inputs);

    /// Sets over that memory, with the event and the metadata of the inputs it was made for.
    const Ports& ports() const { return m_ports; }

    /// Queue copies of all tensors. `inputs` have the port_key of those it was made for.
    void load(const Ports& inputs);

private:
    Ports m_ports;
    std::vector<at::Tensor> m_tensors;
};

/// What came out for the event of StaticInputs, to be given out for other events.
class OutputTemplate {
public:
    /// @param inputs   StaticInputs::ports()
    /// @param outputs  what the nodes gave for them
    OutputTemplate(const Ports& inputs, Ports outputs);

    /// Why these outputs cannot be given out for other events; empty when they can.
    const std::string& rejection() const { return m_rejection; }

    /// The sets for the event of `inputs`: queued copies of the tensors of the outputs, with the event, the
    /// points in time and the channel tables of `inputs`.
    Ports fill(const Ports& inputs) const;

private:
    Ports m_inputs;
    Ports m_outputs;
    std::string m_rejection;
};

/// All tensors of sets: data, summaries, pedestals, and the marks of good channels, once each.
std::vector<at::Tensor> tensors_of(const Ports& ports);

} // namespace spng
