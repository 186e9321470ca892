#pragma once
// A node of the graph: a step plus ports. The base does what no node may forget: the range, the measurement,
// the device and stream, no gradients, and an error that says where it happened.

#include "spng/core/component.h"
#include "spng/core/registry.h"
#include "spng/core/tensor_set.h"
#include "spng/instrument/meter/node_meter.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

class Context;

using Ports = std::vector<TensorSetPtr>;

class Node : public Component {
public:
    ~Node() override;

    /// Port names; those of the registration unless the configuration decides their number.
    virtual std::vector<std::string> input_ports() const;
    virtual std::vector<std::string> output_ports() const;
    const ComponentType& registered() const;

    /// Node::prepare finds the job's context and makes the meter; what a node prepares of its own goes to
    /// prepare_node().
    void prepare(Environment& environment) final;

    /// One call for one event. A source gets no inputs and answers with null sets at the end of the stream.
    /// Throws Error with this node's name and the event in its place; c10 exceptions are translated.
    /// @param event  the index of the event, payload of the range
    Ports call(std::uint64_t event, const Ports& inputs, instrument::MeterMode mode);

    /// After the last event, also after a failure: make what is complete final. Sinks close their files here.
    virtual void finish() {}

    instrument::NodeMeter& meter() { return *m_meter; }

protected:
    virtual void prepare_node(Environment&) {}
    virtual Ports process(const Ports& inputs) = 0;

    const Context& context() const { return *m_context; }

private:
    const Context* m_context = nullptr;
    std::unique_ptr<instrument::NodeMeter> m_meter;
};

/// What a node class derives from: `class Decon : public NodeWith<DeconConfig>`.
template <detail::HasFields Config>
using NodeWith = Configured<Node, Config>;

} // namespace spng
