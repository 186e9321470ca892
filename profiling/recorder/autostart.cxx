// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/autostart.h"

#include "profiling/recorder/crash_signals.h"
#include "profiling/recorder/recorder.h"
#include "spng/core/printable.h"

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <unistd.h>

namespace spng::recorder {
namespace {

constexpr const char* owner_variable = "SPNG_RECORD_OWNER";
constexpr int timeout_seconds = 5;

void stop_at_exit() {
    try {
        Recorder& recorder = Recorder::instance();
        const bool was_active = recorder.is_active();
        recorder.stop("exit");
        if (was_active) {
            std::fprintf(stderr, "SPNG recorder: wrote %s\n", printable(recorder.final_file()).c_str());
        }
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "SPNG recorder: %s\n", printable(problem.what()).c_str());
    }
}

constexpr std::array requests{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU};

std::array<struct sigaction, NSIG> actions_before{};

/// Finalize the file, then raise the signal again with the action that it had before.
void on_fatal_signal(int signal) {
    sigaction(signal, &actions_before.at(static_cast<std::size_t>(signal)), nullptr);
    Recorder::instance().stop_in_signal_handler(signal, timeout_seconds);
    raise(signal);
}

/// Finalize the file when the signal comes. A handler that takes the position of a fault, such as that of a sanitizer,
/// stays.
/// @param before_handler  do so also if the program handles the signal, whose handler then follows
void finalize_on(int signal, bool before_handler) {
    struct sigaction& before = actions_before.at(static_cast<std::size_t>(signal));
    sigaction(signal, nullptr, &before);
    const bool has_position = (before.sa_flags & SA_SIGINFO) != 0;
    if (!has_position && (before.sa_handler == SIG_DFL || (before_handler && before.sa_handler != SIG_IGN))) {
        struct sigaction action {};
        action.sa_handler = &on_fatal_signal;
        action.sa_flags = SA_ONSTACK | SA_RESTART;
        sigaction(signal, &action, nullptr);
    }
}

/// Return true if another process of this job records under the same name.
bool is_file_taken(const Options& options) {
    const char* const owner = std::getenv(owner_variable);
    return owner != nullptr && owner != std::to_string(getpid()) && !names_process(options.pattern);
}

} // namespace

void finalize_at_exit() {
    setenv(owner_variable, std::to_string(getpid()).c_str(), 1);
    static std::once_flag once;
    std::call_once(once, [] {
        std::atexit(&stop_at_exit);
        std::at_quick_exit(&stop_at_exit);
        for (const int signal : crash_signals) {
            finalize_on(signal, /*before_handler=*/true); // a report of the program comes after
        }
        for (const int signal : requests) {
            finalize_on(signal, /*before_handler=*/false);
        }
    });
}

void start_from_environment() {
    static std::once_flag once;
    std::call_once(once, [] {
        Recorder& recorder = Recorder::instance();
        if (recorder.is_active()) {
            return;
        }
        try {
            const auto options = options_from_environment();
            if (options && !is_file_taken(*options)) {
                recorder.start(*options);
                finalize_at_exit();
            }
        } catch (const std::exception& problem) {
            std::fprintf(stderr, "SPNG recorder: nothing is recorded: %s\n",
                         printable(problem.what()).c_str());
        }
    });
}

} // namespace spng::recorder
