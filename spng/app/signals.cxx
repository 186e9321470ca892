// SPDX-License-Identifier: Apache-2.0
#include "spng/app/signals.h"

#include "spng/app/progress.h"
#include "spng/core/files/temporary_files.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/recording.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <unistd.h>

namespace spng::app {
namespace {

struct StopSignal {
    int id;
    const char* name;
    bool is_repeated_by_system; ///< a repetition is not a second request
};

constexpr std::array<StopSignal, 6> stop_signals{{{SIGINT, "SIGINT", false},
                                                  {SIGTERM, "SIGTERM", false},
                                                  {SIGQUIT, "SIGQUIT", false},
                                                  {SIGUSR1, "SIGUSR1", false},
                                                  {SIGHUP, "SIGHUP", true},
                                                  {SIGXCPU, "SIGXCPU", true}}};

const StopSignal* find(int signal_id) noexcept {
    const auto found = std::find_if(stop_signals.begin(), stop_signals.end(),
                                    [signal_id](const StopSignal& signal) { return signal.id == signal_id; });
    return found == stop_signals.end() ? nullptr : found;
}

constexpr unsigned timeout_seconds = 2;
constexpr unsigned result_timeout_seconds = 30;
/// Signals so close together are one request: `timeout` sends its signal to the process and to its group, and the
/// kernel may give two signals to two threads in either order.
constexpr std::int64_t one_request_ns = 100'000'000;

std::atomic<int> first_signal{0};
std::atomic<std::int64_t> first_signal_ns{std::numeric_limits<std::int64_t>::max()};
std::atomic<bool> waiting_for_results{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// All functions from here to install_signal_handlers() run inside signal handlers: no locks, no memory, no stdio.

void say(const char* text) noexcept {
    clear_progress_in_signal_handler();
    // If stderr is closed, the message is lost.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_at_once(int signal_id) noexcept {
    clear_progress_in_signal_handler();
    unlink_temporary_files();
    instrument::recording::say_what_is_left();
    _exit(128 + signal_id);
}

void on_stop(int signal_id) {
    int none = 0;
    if (first_signal.compare_exchange_strong(none, signal_id)) {
        first_signal_ns = instrument::wall_nanoseconds();
        alarm(timeout_seconds);
    } else if (!find(signal_id)->is_repeated_by_system &&
               instrument::wall_nanoseconds() - one_request_ns > first_signal_ns) {
        end_at_once(signal_id);
    }
}

void on_alarm(int) {
    if (temporary_files_worth_keeping() && !waiting_for_results.exchange(true)) {
        say("wire-cell: waiting for a node to return, to keep the completed events; interrupt again to end "
            "at once\n");
        alarm(result_timeout_seconds);
        return;
    }
    end_at_once(first_signal.load());
}

void handle(int signal_id, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART; // reads and writes of the job continue
    sigaction(signal_id, &action, nullptr);
}

} // namespace

void install_signal_handlers() {
    for (const StopSignal& signal : stop_signals) {
        struct sigaction before {};
        sigaction(signal.id, nullptr, &before);
        if (before.sa_handler != SIG_IGN) {
            handle(signal.id, on_stop);
        }
    }
    handle(SIGALRM, on_alarm);
    for (const int signal_id : {SIGPIPE, SIGXFSZ}) {
        handle(signal_id, SIG_IGN);
    }
}

void end_hanging_program(const Error& report) {
    say("\n");
    say(report.what());
    say("\n");
    unlink_temporary_files();
    instrument::recording::say_what_is_left();
    _exit(report.exit_status());
}

const std::atomic<int>& stop_signal() {
    return first_signal;
}

std::string signal_name(int signal_id) {
    const StopSignal* const signal = find(signal_id);
    return signal == nullptr ? "signal " + std::to_string(signal_id) : signal->name;
}

} // namespace spng::app
