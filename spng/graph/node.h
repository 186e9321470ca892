// SPDX-License-Identifier: Apache-2.0
#pragma once
// A node of the graph: a step plus ports. The base class opens the range, measures the call, sets device and
// stream, switches gradients off, and adds the node and the event to errors.

#include "spng/core/component.h"
#include "spng/core/registry.h"
#include "spng/core/tensor_set.h"
#include "spng/instrument/meter/node_meter.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

class Context;

using Ports = std::vector<TensorSetPtr>;

class Node : public Component {
public:
    ~Node() override;

    /// Port names: those of the registration, unless the configuration sets their count.
    virtual std::vector<std::string> input_ports() const;
    virtual std::vector<std::string> output_ports() const;
    const ComponentType& registered() const;

    /// Find the context of the job, make the meter, and call prepare_node() and begin_run(), which derived nodes
    /// override.
    void prepare(Environment& environment) final;

    /// Forget the last run, so that the next one has the results of a new job: clear the meter and call begin_run().
    void restart(Environment& environment);

    /// Process one event. A source gets no inputs and returns null sets at the end of the stream.
    /// @param event  index of the event, payload of the range
    /// @throws Error with the node and the event in `where`; c10 exceptions are translated
    Ports call(std::uint64_t event, const Ports& inputs, instrument::MeterMode mode);

    /// Finalize the output after the last event, also after a failure. Sinks close their files here.
    virtual void finish() {}

    /// Sources: whether the next call would end the stream; false if it would not, or if that is not known yet. Engines
    /// then skip the final empty call, so that it does not appear in profiles.
    virtual bool at_end() const { return false; }
    /// Sources: whether the next call would have to wait, for example for the program that owns the job. Engines finish
    /// the events in flight before.
    virtual bool must_wait() const { return false; }
    /// Sources: the share of the events that calls have returned so far, 0 to 1, for the display of progress; empty if
    /// it is not known. Thread-safe.
    virtual std::optional<double> share_done() const { return std::nullopt; }

    /// Return in a few words why the device work of the node cannot be captured into a CUDA graph ("the network is an
    /// AOTInductor package"): it waits for the device, or queues different work from call to call. Empty if it can. Call
    /// after prepare().
    virtual std::string capture_rejection() const { return {}; }

    instrument::NodeMeter& meter() { return *m_meter; }

protected:
    /// Build everything that does not depend on an event. Called once.
    virtual void prepare_node(Environment&) {}
    /// Open files, and set everything that depends on the events of a run to its initial state. Called before each run,
    /// the first time after prepare_node().
    virtual void begin_run(Environment&) {}
    virtual Ports process(const Ports& inputs) = 0;

    const Context& context() const { return *m_context; }

private:
    const Context* m_context = nullptr;
    std::unique_ptr<instrument::NodeMeter> m_meter;
};

/// Base of node classes: `class Decon : public NodeWith<DeconConfig>`.
template <detail::HasFields Config>
using NodeWith = Configured<Node, Config>;

} // namespace spng
