// SPDX-License-Identifier: Apache-2.0
#pragma once
// Calls of services by nodes, measured and annotated like node calls, in rows of their own below the node.

#include "spng/instrument/meter/node_meter.h"

#include <cstddef>
#include <optional>

namespace spng::instrument {

/// Mix-in for services with measurements of their own. Reports show a service that was called.
class Metered {
public:
    virtual ~Metered() = default;
    virtual NodeMeter& meter() = 0;
};

/// A call inside a node call on the same thread, with its event, device and options. Outside of node calls, such
/// as during prepare(), it measures nothing.
class NestedCall {
public:
    explicit NestedCall(NodeMeter& meter);
    NestedCall(const NestedCall&) = delete;
    NestedCall& operator=(const NestedCall&) = delete;

    void count_bytes(std::size_t in, std::size_t out);

private:
    std::optional<NodeMeter::Call> m_call;
};

} // namespace spng::instrument
