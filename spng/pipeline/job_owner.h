// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who may call the threads of a job: the process that made them, and no code that they call themselves.

#include <sys/types.h>

#include <memory>
#include <thread>
#include <utility>

namespace spng {

/// Marks this thread while it runs code of the caller inside of the library, such as a handler of log lines. A job may wait for
/// that code, so that the code cannot wait for a job.
class InCallback {
public:
    InCallback();
    ~InCallback();
    InCallback(const InCallback&) = delete;
    InCallback& operator=(const InCallback&) = delete;
    static bool is_active();
};

/// The process that made an object. A child of fork() has the memory of its parent, but none of its threads.
class MakingProcess {
public:
    /// @param object  its name in messages: "the pipeline"
    explicit MakingProcess(const char* object);
    bool is_other() const;
    /// @throws Error(Usage) in another process
    void require() const;
    /// @throws Error(Usage) in a callback
    void require_no_callback() const;

private:
    const char* m_object;
    pid_t m_process;
};

/// An object with threads.
template <class Object>
class JobOwner {
public:
    /// @param name  of the object in messages: "the pipeline"
    /// @throws Error(Usage) in a callback; as Object()
    template <class... Arguments>
    explicit JobOwner(const char* name, Arguments&&... arguments) : m_process(name) {
        m_process.require_no_callback();
        m_object = std::make_unique<Object>(std::forward<Arguments>(arguments)...);
    }
    /// Wait for the threads. In another process leave the object as it is; in a callback let another thread wait.
    ~JobOwner() {
        if (m_process.is_other()) {
            static_cast<void>(m_object.release());
        } else if (InCallback::is_active()) {
            std::thread([object = std::move(m_object)] {}).detach();
        }
    }
    JobOwner(const JobOwner&) = delete;
    JobOwner& operator=(const JobOwner&) = delete;

    bool is_of_other_process() const { return m_process.is_other(); }

    /// Return the object for a call that waits for no thread.
    /// @throws Error(Usage) in another process
    Object& get() const {
        m_process.require();
        return *m_object;
    }
    /// Return the object for a call that may wait for its threads.
    /// @throws Error(Usage) in another process and in a callback
    Object& for_waiting() const {
        m_process.require_no_callback();
        return get();
    }

private:
    MakingProcess m_process;
    std::unique_ptr<Object> m_object;
};

} // namespace spng
