#include "spng/nodes/frame/background_worker.h"

#include "spng/instrument/background_thread.h"

#include <ATen/Parallel.h>

#include <csignal>
#include <omp.h>

namespace spng {

BackgroundWorker::BackgroundWorker(std::string name) : m_name(std::move(name)) {
    // A thread inherits what is blocked; handlers then run where they did without it.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    m_thread = std::thread([this] { work(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
    at::get_num_threads();  // the first use in a thread sets it to the program's number,
    omp_set_num_threads(1); // so that this stays
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
