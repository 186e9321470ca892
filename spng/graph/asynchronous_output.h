// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Mix-in for nodes whose calls return while their output tensors are still being copied to the host. The
/// copies are complete when the event's stream has reached its position at the return. Engines wait for that
/// before they call the next nodes; between source and sink they wait for nothing else.
class AsynchronousOutput {
public:
    virtual ~AsynchronousOutput() = default;
};

} // namespace spng
