// SPDX-License-Identifier: Apache-2.0
#include "spng/app/crash.h"

#include "profiling/recorder/crash_signals.h"
#include "spng/app/progress.h"
#include "spng/core/files/temporary_files.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/recording.h"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace spng::app {
namespace {

constexpr unsigned report_seconds = 5;

// MINSIGSTKSZ is not a constant in every C library; this is more than any processor's registers need.
std::array<char, std::size_t{64} << 10> handler_stack;

// All functions from here to report_crashes() run inside signal handlers: no locks, no memory, no stdio.

/// Text of limited length. More is left out.
class Text {
public:
    Text& operator<<(std::string_view text) noexcept {
        for (const char c : text.substr(0, m_text.size() - m_length)) {
            m_text[m_length++] = c == '\n' || (c >= ' ' && c <= '~') ? c : '?';
        }
        return *this;
    }
    Text& operator<<(std::uint64_t value) noexcept {
        std::array<char, 20> digits{};
        const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
        return *this << std::string_view(digits.data(), static_cast<std::size_t>(end - digits.begin()));
    }
    void print() const noexcept {
        [[maybe_unused]] const auto written = write(STDERR_FILENO, m_text.data(), m_length);
    }

private:
    std::array<char, 1024> m_text{};
    std::size_t m_length = 0;
};

/// Return as much of a name as leaves room for the rest of the block.
std::string_view beginning(const std::string& name) noexcept {
    return std::string_view(name).substr(0, 200);
}

/// Return the bytes of the address space that are taken; 0 if unknown.
std::uint64_t taken_address_space() noexcept {
    const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    std::array<char, 32> text{};
    const auto length = file < 0 ? -1 : read(file, text.data(), text.size());
    std::uint64_t pages = 0; // the first value
    if (length > 0) {
        std::from_chars(text.data(), text.data() + length, pages);
    }
    close(file);
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

std::atomic<pid_t> reporting_thread{0};
static_assert(std::atomic<pid_t>::is_always_lock_free);

[[noreturn]] void end_by(int signal_id) noexcept {
    signal(signal_id, SIG_DFL);
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal_id); // blocked in its handler
    pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
    raise(signal_id);
    _exit(128 + signal_id);
}

void on_fault(int signal_id) {
    constexpr std::uint64_t megabyte = 1'000'000;
    pid_t other = 0;
    if (const pid_t self = gettid(); !reporting_thread.compare_exchange_strong(other, self)) {
        if (other == self) {
            end_by(signal_id); // this report crashed
        }
        for (;;) {
            pause(); // the other thread ends the program
        }
    }
    // If the report hangs, because the crash left a lock behind that the thread's storage needs, the alarm ends it.
    signal(SIGALRM, SIG_DFL);
    alarm(report_seconds);
    clear_progress_in_signal_handler();
    Text text;
    text << "error: wire-cell crashed (SIG" << sigabbrev_np(signal_id) << ")\n";
    if (const auto call = instrument::current_call(); call.node != nullptr) {
        text << "  where:    " << beginning(call.node->type) << (call.node->instance.empty() ? "" : ":")
             << beginning(call.node->instance) << ", event " << call.event << "\n";
    }
    rlimit limits{};
    if (getrlimit(RLIMIT_AS, &limits) == 0 && limits.rlim_cur != RLIM_INFINITY) {
        text << "  seen:     an address space limited to " << limits.rlim_cur / megabyte << " MB, of which "
             << taken_address_space() / megabyte << " MB are taken\n"
             << "  hint:     some libraries crash when they find no memory: raise the limit (ulimit -v)\n";
    } else {
        text << "  hint:     please report this with the command line and the input\n";
    }
    text.print();
    unlink_temporary_files();
    instrument::recording::say_what_is_left();
    end_by(signal_id);
}

} // namespace

void report_crashes() {
    stack_t stack{};
    stack.ss_sp = handler_stack.data();
    stack.ss_size = handler_stack.size();
    sigaltstack(&stack, nullptr);
    for (const int signal_id : recorder::crash_signals) {
        struct sigaction before {};
        sigaction(signal_id, nullptr, &before);
        if (before.sa_handler == SIG_DFL) {
            struct sigaction action {};
            action.sa_handler = on_fault;
            action.sa_flags = SA_ONSTACK;
            sigaction(signal_id, &action, nullptr);
        }
    }
}

} // namespace spng::app
