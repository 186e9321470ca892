// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/background_worker.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/device/operation_threads.h"
#include "spng/instrument/background_thread.h"

namespace spng {

BackgroundWorker::BackgroundWorker(std::string name) : m_name(std::move(name)) {
    // The thread inherits the signal mask, so that handlers keep running on the other threads.
    const recorder::SignalsBlocked blocked;
    m_thread = std::thread([this] { work(); });
}

BackgroundWorker::~BackgroundWorker() {
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
        m_waiting.clear();
    }
    m_changed.notify_one();
    m_thread.join();
}

void BackgroundWorker::add(std::function<void()> task) {
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.push_back(std::move(task));
    }
    m_changed.notify_one();
}

void BackgroundWorker::work() {
    const instrument::BackgroundThread background(m_name);
    const OperationThreads one_thread(1);
    for (;;) {
        std::function<void()> task;
        {
            std::unique_lock lock(m_mutex);
            m_changed.wait(lock, [this] { return m_ending || !m_waiting.empty(); });
            if (m_ending) {
                return;
            }
            task = std::move(m_waiting.front());
            m_waiting.pop_front();
        }
        task();
    }
}

} // namespace spng
