// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signals that end the program.
//
// The first SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1 or SIGXCPU requests a stop: the engines stop between node
// calls, completed events become final, and the exit status is 128 plus the signal number. A second signal,
// 0.1 s later or more, ends the program at once, except SIGHUP and SIGXCPU, which the system itself repeats: a
// closed terminal sends SIGHUP from the shell and from the kernel, an exhausted RLIMIT_CPU sends SIGXCPU every
// second. If a node call does not return, a watchdog ends the program after 2 s, or after 30 s if an unfinished
// output holds completed events. Temporary files are removed in every case.

#include "spng/core/error.h"

#include <atomic>
#include <string>

namespace spng::app {

/// Install the handlers. A signal that the parent process set to be ignored, as nohup does with SIGHUP, stays
/// ignored. Also ignore SIGPIPE and SIGXFSZ, so that a closed pipe or a full quota fails the write instead of
/// killing the program without a message.
void install_signal_handlers();

/// Print the report and end the program with its status. Remove temporary files. For a call that never returns
/// (time_limit.h), so it waits for no thread.
[[noreturn]] void end_hanging_program(const Error& report);

/// Return the first signal received, 0 if there was none; for RunOptions::stop_signal.
const std::atomic<int>& stop_signal();

/// Return the name of a handled signal, "SIGTERM".
std::string signal_name(int signal_id);

} // namespace spng::app
