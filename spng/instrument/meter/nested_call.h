#pragma once
// Services that nodes call: their work is measured and annotated like that of nodes, as rows of their own
// below the node that calls them.

#include "spng/instrument/meter/node_meter.h"

#include <cstddef>
#include <optional>

namespace spng::instrument {

/// What has measurements of its own without being a node of the graph. Reports show it when it was called.
class Metered {
public:
    virtual ~Metered() = default;
    virtual NodeMeter& meter() = 0;
};

/// A call from inside of a node call on the same thread, whose event, device and way of measuring it takes
/// over. Outside of node calls, as while things are prepared, it measures nothing.
class NestedCall {
public:
    explicit NestedCall(NodeMeter& meter);
    NestedCall(const NestedCall&) = delete;
    NestedCall& operator=(const NestedCall&) = delete;

    bool is_measured() const { return m_call.has_value(); }
    void count_bytes(std::size_t in, std::size_t out);

private:
    std::optional<NodeMeter::Call> m_call;
};

} // namespace spng::instrument
