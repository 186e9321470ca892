// SPDX-License-Identifier: Apache-2.0
#include "spng/job/deep_stack.h"

#include <csignal>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace spng {
namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 20;
constexpr std::size_t guard_bytes = std::size_t{1} << 20; // more than any single frame takes
constexpr std::size_t room_bytes = std::size_t{128} << 20;
constexpr std::size_t handler_stack_bytes = std::size_t{64} << 10;
constexpr int configuration_status = 2;

/// A guard region and the stack above it. The stack grows down towards the guard region. There is room for the heap of
/// the work, too: libjsonnet aborts the program if it finds no memory.
class Stack {
public:
    Stack() {
        m_begin = mmap(nullptr, guard_bytes + stack_bytes + room_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (m_begin == MAP_FAILED) {
            throw std::bad_alloc();
        }
        munmap(static_cast<char*>(m_begin) + guard_bytes + stack_bytes, room_bytes);
        mprotect(m_begin, guard_bytes, PROT_NONE);
    }
    ~Stack() { munmap(m_begin, guard_bytes + stack_bytes); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    void* lowest() const { return static_cast<char*>(m_begin) + guard_bytes; }
    std::uintptr_t guard() const { return reinterpret_cast<std::uintptr_t>(m_begin); }

private:
    void* m_begin = nullptr;
};

/// The guard region of the current evaluation, read by the signal handler.
struct Guarded {
    std::uintptr_t guard = 0;
    const std::string* message = nullptr;
    struct sigaction before {};
};
Guarded guarded;

void on_fault(int, siginfo_t* info, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (address - guarded.guard >= guard_bytes) {
        // Another fault: it repeats and reaches the previous handler.
        sigaction(SIGSEGV, &guarded.before, nullptr);
        return;
    }
    [[maybe_unused]] const auto written =
        write(STDERR_FILENO, guarded.message->data(), guarded.message->size());
    _exit(configuration_status);
}

/// Handles faults of the calling thread on a separate stack during its life.
class OverflowHandler {
public:
    OverflowHandler() : m_stack(handler_stack_bytes) {
        stack_t stack{};
        stack.ss_sp = m_stack.data();
        stack.ss_size = m_stack.size();
        sigaltstack(&stack, nullptr);
        struct sigaction action {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigaction(SIGSEGV, &action, &guarded.before);
    }
    ~OverflowHandler() {
        sigaction(SIGSEGV, &guarded.before, nullptr);
        stack_t none{};
        none.ss_flags = SS_DISABLE;
        sigaltstack(&none, nullptr);
    }
    OverflowHandler(const OverflowHandler&) = delete;
    OverflowHandler& operator=(const OverflowHandler&) = delete;

private:
    std::vector<char> m_stack;
};

struct Call {
    const std::function<void()>& work;
    std::exception_ptr failure;
};

void* run(void* argument) {
    auto& call = *static_cast<Call*>(argument);
    const OverflowHandler handler;
    try {
        call.work();
    } catch (...) {
        call.failure = std::current_exception();
    }
    return nullptr;
}

} // namespace

void run_on_deep_stack(const std::function<void()>& work, const std::string& overflow_message) {
    static std::mutex one_at_a_time; // the handler belongs to the process
    const std::lock_guard lock(one_at_a_time);
    const Stack stack;
    guarded.guard = stack.guard();
    guarded.message = &overflow_message;
    Call call{work, nullptr};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack.lowest(), stack_bytes);
    pthread_t thread{};
    const int failed = pthread_create(&thread, &attributes, run, &call);
    pthread_attr_destroy(&attributes);
    if (failed != 0) {
        throw std::bad_alloc();
    }
    pthread_join(thread, nullptr);
    if (call.failure) {
        std::rethrow_exception(call.failure);
    }
}

} // namespace spng
