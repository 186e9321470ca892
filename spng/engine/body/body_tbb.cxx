// SPDX-License-Identifier: Apache-2.0
#include "spng/device/operation_threads.h"
#include "spng/engine/body/body.h"

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <cstddef>
#include <vector>

namespace spng {
namespace {

/// The calls of one event: a task for each node, begun when its last input is there.
class Tasks {
public:
    Tasks(EventCall& event, int operation_threads)
        : m_event(event), m_operation_threads(operation_threads), m_readers(event.parts().slots),
          m_missing(event.parts().body.size()) {
        const auto& body = event.parts().body;
        std::vector<bool> is_made(event.parts().slots);
        for (std::size_t i = 0; i < body.size(); ++i) { // in topological order
            for (const std::size_t slot : body[i].inputs) {
                if (is_made[slot]) {
                    m_readers[slot].push_back(i);
                    ++m_missing[i];
                }
            }
            for (const std::size_t slot : body[i].outputs) {
                is_made[slot] = true;
            }
        }
    }

    void run() {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < m_missing.size(); ++i) {
            if (m_missing[i] == 0) {
                ready.push_back(i);
            }
        }
        for (const std::size_t step : ready) {
            begin(step);
        }
        m_group.wait(); // throws what a node has thrown; the others are not begun any more
        m_ended.load(std::memory_order_acquire);
    }

private:
    void begin(std::size_t step) {
        m_begun.fetch_add(1, std::memory_order_release);
        m_group.run([this, step] {
            // oneTBB orders both, too, but inside its library, where thread sanitizer does not see it.
            m_begun.load(std::memory_order_acquire);
            call(step);
            m_ended.fetch_add(1, std::memory_order_release);
        });
    }

    void call(std::size_t index) {
        const OperationThreads threads(m_operation_threads); // oneTBB's threads serve host programs, too
        const Step& step = m_event.parts().body[index];
        m_event.call(step);
        for (const std::size_t slot : step.outputs) {
            for (const std::size_t reader : m_readers[slot]) {
                if (--m_missing[reader] == 0) {
                    begin(reader);
                }
            }
        }
    }

    EventCall& m_event;
    const int m_operation_threads;
    std::vector<std::vector<std::size_t>> m_readers; ///< by slot: steps of the body
    std::vector<std::atomic<std::size_t>> m_missing; ///< by step: inputs that are not there yet
    std::atomic<std::uint64_t> m_begun{0}, m_ended{0};
    oneapi::tbb::task_group m_group;
};

class TbbBody : public Body {
public:
    explicit TbbBody(int operation_threads) : m_operation_threads(operation_threads) {}

    void queue(EventCall& event, bool one_by_one) override {
        if (one_by_one) {
            SerialBody().queue(event, true);
            return;
        }
        // Isolated: while it waits, this thread takes no node of another event, which could wait for this one.
        oneapi::tbb::this_task_arena::isolate([&] { Tasks(event, m_operation_threads).run(); });
        event.queued();
    }

private:
    const int m_operation_threads;
};

} // namespace

std::unique_ptr<Body> make_tbb_body(int operation_threads) {
    return std::make_unique<TbbBody>(operation_threads);
}

} // namespace spng
