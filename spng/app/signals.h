#pragma once
// How the program ends when it is told to.
//
// The first SIGINT or SIGTERM asks: the engines stop between node calls, completed events are made final, and
// the exit status is 130 or 143. A second one ends the program at once. Should a node call not come back, a
// watchdog does so after 2 s, or, where an unfinished output holds completed events, after 30 s. Temporary
// files are removed in any case.

#include <atomic>

namespace spng::app {

/// Install the handlers; also ignore SIGPIPE and SIGXFSZ, so that a closed pipe or a full quota is an error
/// of the write and not the program's silent death.
void install_signal_handlers();

/// The first signal that came, 0 while there was none; for RunOptions::stop_signal.
const std::atomic<int>& stop_signal();

} // namespace spng::app
