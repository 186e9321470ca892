// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGMemorySource: events from the program that owns the job.

#include "spng/core/field.h"
#include "spng/graph/node.h"
#include "spng/nodes/memory/event_queue.h"

#include <memory>

namespace spng {

/// Out: the sets of an EventQueue, in its order: frames (channel, tick) as of FrameFileSource, on the host or a device;
/// or depositions as of SPNGDepoFileSource.
class MemorySource : public NodeWith<NoConfig> {
public:
    /// Set the queue. Call before prepare().
    void connect(std::shared_ptr<EventQueue> queue) { m_queue = std::move(queue); }

    bool at_end() const override { return m_queue->is_at_end(); }
    bool must_wait() const override { return m_queue->is_empty(); }

protected:
    /// @throws Error(Configuration) without a queue: the job runs in a program without Pipeline
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    std::shared_ptr<EventQueue> m_queue;
};

} // namespace spng
