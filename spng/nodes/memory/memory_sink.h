// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGMemorySink: results for the program that owns the job.

#include "spng/core/field.h"
#include "spng/graph/node.h"
#include "spng/nodes/memory/event_queue.h"

#include <memory>

namespace spng {

/// In: sets, delivered to an EventQueue under the instance name of the node.
class MemorySink : public NodeWith<NoConfig> {
public:
    /// Set the queue. Call before prepare(). Without a queue the node discards its input.
    void connect(std::shared_ptr<EventQueue> queue) {
        queue->add_sink();
        m_queue = std::move(queue);
    }

protected:
    Ports process(const Ports& inputs) override;

private:
    std::shared_ptr<EventQueue> m_queue;
};

} // namespace spng
