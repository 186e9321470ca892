// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/autostart.h"

#include "profiling/recorder/recorder.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
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
            std::fprintf(stderr, "SPNG recorder: wrote %s\n", recorder.final_file());
        }
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "SPNG recorder: %s\n", problem.what());
    }
}

/// Finalize the file, then raise the signal again with its default action.
void on_fatal_signal(int signal) {
    std::signal(signal, SIG_DFL);
    Recorder::instance().stop_in_signal_handler(signal, timeout_seconds);
    raise(signal);
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
        for (const int signal :
             {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGXCPU}) {
            struct sigaction before {};
            sigaction(signal, nullptr, &before);
            // Keep the signal handlers of the program.
            if ((before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_DFL) {
                std::signal(signal, &on_fatal_signal);
            }
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
            std::fprintf(stderr, "SPNG recorder: nothing is recorded: %s\n", problem.what());
        }
    });
}

} // namespace spng::recorder
