// SPDX-License-Identifier: Apache-2.0
#include "spng/job/jsonnet/deep_stack.h"

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <exception>
#include <link.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr std::size_t stack_bytes = std::size_t{128} << 20;
constexpr std::size_t guard_bytes = std::size_t{1} << 20; // more than any single frame takes
constexpr std::size_t room_bytes = std::size_t{128} << 20;
constexpr std::size_t handler_stack_bytes = std::size_t{64} << 10;
constexpr std::size_t reserve_bytes = std::size_t{64} << 10; // one step into the guard region

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
    bool is_in_guard(std::uintptr_t address) const {
        return address - reinterpret_cast<std::uintptr_t>(m_begin) < guard_bytes;
    }
    /// Make a part of the guard region usable, so that a function of another library can end.
    /// @return false if no part is left
    bool open_reserve() {
        m_reserve += reserve_bytes;
        return m_reserve < guard_bytes &&
               mprotect(static_cast<char*>(lowest()) - m_reserve, reserve_bytes, PROT_READ | PROT_WRITE) == 0;
    }

private:
    void* m_begin = nullptr;
    std::size_t m_reserve = 0;
};

/// The addresses of the code of a library.
struct Code {
    std::uintptr_t begin = 0, end = 0;

    /// @param function  in the library
    explicit Code(const void* function) {
        std::pair search{reinterpret_cast<std::uintptr_t>(function), this};
        dl_iterate_phdr(
            [](dl_phdr_info* info, std::size_t, void* argument) {
                auto& [wanted, code] = *static_cast<decltype(search)*>(argument);
                for (int i = 0; i < info->dlpi_phnum; ++i) {
                    const auto& part = info->dlpi_phdr[i];
                    const std::uintptr_t first = info->dlpi_addr + part.p_vaddr;
                    if (part.p_type == PT_LOAD && wanted - first < part.p_memsz) {
                        code->begin = first;
                        code->end = first + part.p_memsz;
                    }
                }
                return 0;
            },
            &search);
    }
    bool contains(std::uintptr_t address) const { return address >= begin && address < end; }
};

std::uintptr_t instruction_of(const void* context) {
    const auto& state = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    return static_cast<std::uintptr_t>(state.gregs[REG_RIP]);
#else
    return state.pc;
#endif
}

enum class Ending { returned, overflow, abort };

/// A thread of work, with all that its signal handlers use.
struct Call {
    Call(const std::function<void()>& the_work, FaultErrors the_errors, const void* library)
        : work(the_work), errors(std::move(the_errors)), code(library) {
        sem_init(&ended, 0, 0);
    }
    ~Call() { sem_destroy(&ended); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    const std::function<void()>& work;
    const FaultErrors errors;
    const Code code; ///< in which an overflow counts
    Stack stack;
    std::vector<char> handler_stack = std::vector<char>(handler_stack_bytes);
    pthread_t thread{};
    std::atomic<bool> is_running{false}; ///< the thread has set its handlers
    std::exception_ptr failure;
    std::atomic<Ending> ending{Ending::returned};
    sem_t ended{};
};
std::atomic<Call*> current{nullptr}; // read by the signal handlers

/// Signals whose handlers are replaced while a call runs, with the handlers of before.
struct Watched {
    int signal;
    struct sigaction before {};
};
std::array<Watched, 2> watched{{{SIGSEGV}, {SIGABRT}}};

void restore(int signal) {
    for (const Watched& each : watched) {
        if (each.signal == signal) {
            sigaction(signal, &each.before, nullptr);
        }
    }
}

/// Never returns: what the thread was doing cannot be undone or continued.
[[noreturn]] void leave(Call& call, Ending ending) {
    call.ending = ending;
    sem_post(&call.ended);
    for (;;) {
        pause();
    }
}

void on_fault(int signal, siginfo_t* info, void* context) {
    Call* const call = current;
    if (call != nullptr && call->is_running && pthread_equal(pthread_self(), call->thread) != 0) {
        if (signal == SIGABRT) {
            leave(*call, Ending::abort);
        }
        if (call->stack.is_in_guard(reinterpret_cast<std::uintptr_t>(info->si_addr))) {
            if (call->code.contains(instruction_of(context))) {
                leave(*call, Ending::overflow);
            }
            if (call->stack.open_reserve()) {
                return;
            }
        }
    }
    // Another fault: it reaches the previous handler, when it is repeated or when this handler returns.
    restore(signal);
    if (signal == SIGABRT) {
        raise(signal);
    }
}

void* run(void* argument) {
    auto& call = *static_cast<Call*>(argument);
    stack_t stack{};
    stack.ss_sp = call.handler_stack.data();
    stack.ss_size = call.handler_stack.size();
    sigaltstack(&stack, nullptr);
    call.thread = pthread_self();
    call.is_running = true;
    try {
        call.work();
    } catch (...) {
        call.failure = std::current_exception();
    }
    call.is_running = false;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    sem_post(&call.ended);
    return nullptr;
}

/// Replaces the handlers of the process during its life.
class Handlers {
public:
    explicit Handlers(Call& call) {
        current = &call;
        struct sigaction action {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        for (Watched& each : watched) {
            sigaction(each.signal, &action, &each.before);
        }
    }
    ~Handlers() {
        for (const Watched& each : watched) {
            sigaction(each.signal, &each.before, nullptr);
        }
        current = nullptr;
    }
    Handlers(const Handlers&) = delete;
    Handlers& operator=(const Handlers&) = delete;
};

} // namespace

void run_on_deep_stack(const std::function<void()>& work, FaultErrors errors, const void* library) {
    static std::mutex one_at_a_time; // the handlers belong to the process
    const std::lock_guard lock(one_at_a_time);
    auto call = std::make_unique<Call>(work, std::move(errors), library);
    {
        const Handlers handlers(*call);
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, call->stack.lowest(), stack_bytes);
        pthread_t thread{};
        const int failed = pthread_create(&thread, &attributes, run, call.get());
        pthread_attr_destroy(&attributes);
        if (failed != 0) {
            throw std::bad_alloc();
        }
        while (sem_wait(&call->ended) != 0) { // interrupted by a signal
        }
        if (call->ending == Ending::returned) {
            pthread_join(thread, nullptr);
        } else {
            pthread_detach(thread);
        }
    }
    if (call->ending != Ending::returned) {
        const Call& stuck = *call.release(); // its thread stays until the end of the process
        throw stuck.ending == Ending::overflow ? stuck.errors.overflow : stuck.errors.abort;
    }
    if (call->failure) {
        std::rethrow_exception(call->failure);
    }
}

} // namespace spng
