// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/background_worker.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/instrument/background_thread.h"

#include <ATen/Parallel.h>

// Of the OpenMP runtime that LibTorch loads. Its header belongs to one compiler and is absent for clang-tidy.
extern "C" void omp_set_num_threads(int threads);

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
    // The first call in a thread applies the program's thread count. Call it now, so that it cannot overwrite
    // the 1 later.
    at::get_num_threads();
    omp_set_num_threads(1);
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
