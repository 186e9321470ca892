// SPDX-License-Identifier: Apache-2.0
#pragma once
// Background thread for file input and output.

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace spng {

/// Single-threaded FIFO task executor. The thread blocks all signals. LibTorch operations inside a task run
/// on this thread only, so they do not start a second team of OpenMP threads. The thread's CPU time is not
/// attributed to nodes (instrument::BackgroundThread).
class BackgroundWorker {
public:
    /// @param name  thread name, at most 15 characters
    explicit BackgroundWorker(std::string name);

    /// Wait for the running task and drop the queued ones; their futures report
    /// std::future_errc::broken_promise.
    ~BackgroundWorker();
    BackgroundWorker(const BackgroundWorker&) = delete;
    BackgroundWorker& operator=(const BackgroundWorker&) = delete;

    /// Queue a task.
    /// @param task  objects that it refers to must live until the future is ready, or outlive the worker
    /// @return the result or exception of `task`
    template <class Task>
    std::future<std::invoke_result_t<Task>> submit(Task task) {
        auto packaged = std::make_shared<std::packaged_task<std::invoke_result_t<Task>()>>(std::move(task));
        auto result = packaged->get_future();
        add([packaged] { (*packaged)(); });
        return result;
    }

private:
    void add(std::function<void()> task);
    void work();

    const std::string m_name;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::deque<std::function<void()>> m_waiting;
    bool m_ending = false;
    std::thread m_thread;
};

} // namespace spng
