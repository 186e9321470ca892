#pragma once
// The whole of wire-cell but for main(), so that a test or another program can call it.

namespace spng::app {

/// Returns the exit status: 0 done, 1 failed while running, 2 wrong use or configuration, 130 or 143 stopped
/// by a signal. Reports on stdout, errors as one block on stderr. Never throws.
int run_program(int argc, const char* const* argv) noexcept;

} // namespace spng::app

/// run_program() under a name that the launcher, main.cxx, can look up.
extern "C" int spng_run_program(int argc, const char* const* argv);
