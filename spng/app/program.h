// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program wire-cell without main(), for tests and other programs.

namespace spng::app {

/// Run the program. Reports go to stdout, errors as one block to stderr.
/// @return the exit status: 0 done, 1 failed during the run, 2 usage or configuration error, 128 + signal if a
/// signal stopped the run
int run_program(int argc, const char* const* argv) noexcept;

} // namespace spng::app

/// run_program() under a name that the launcher, main.cxx, can look up.
extern "C" int spng_run_program(int argc, const char* const* argv);
