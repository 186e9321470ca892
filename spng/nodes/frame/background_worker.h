#pragma once
// File work beside the computation.

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

/// A thread that does what it is given, one task after the other, in the order in which they came. Signals
/// are left to the other threads; operations of LibTorch inside a task use this thread alone, so that they do
/// not start a second team of helpers. Its processor time is not counted as that of nodes
/// (instrument::BackgroundThread).
class BackgroundWorker {
public:
    /// @param name  of the thread, at most 15 characters
    explicit BackgroundWorker(std::string name);

    /// Waits for the task that runs; those that wait are dropped, their futures broken.
    ~BackgroundWorker();
    BackgroundWorker(const BackgroundWorker&) = delete;
    BackgroundWorker& operator=(const BackgroundWorker&) = delete;

    /// The future has what `task` returns or throws. What the task refers to must live until then or longer
    /// than the worker.
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
