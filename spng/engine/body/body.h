// SPDX-License-Identifier: Apache-2.0
#pragma once
// The body of a job as a function of an event: the same event gives the same bytes, with any of these executors, on any
// device, any number of times.

#include "spng/engine/body/event_call.h"

#include <memory>

namespace spng {

class Body {
public:
    virtual ~Body() = default;

    /// Call all nodes of the body, which queue their work on the event's stream. Thread-safe.
    /// @param one_by_one  never call two nodes at the same time, to save memory
    /// @throws Error, Abandoned; exceptions of LibTorch
    virtual void queue(EventCall& event, bool one_by_one) = 0;

    /// Return memory of the device that is kept from event to event and that the body can work without. Called when an
    /// event ran out of memory, from any thread, while other events may run. Throws c10::Error if the device is lost.
    /// @param all  all of it; otherwise the part that was used longest ago
    virtual void release_memory(bool /*all*/) {}
};

/// Call the nodes in topological order.
class SerialBody : public Body {
public:
    void queue(EventCall& event, bool one_by_one) override;
};

/// Call independent nodes at the same time, with the threads of oneTBB's current arena.
/// @param operation_threads  threads inside one operation
std::unique_ptr<Body> make_tbb_body(int operation_threads);

} // namespace spng
