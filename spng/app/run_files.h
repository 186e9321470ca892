// SPDX-License-Identifier: Apache-2.0
#pragma once
// Run the job of the command line once for each file of a list. It stays loaded and prepared between the runs.

#include "spng/app/command_line.h"
#include "spng/instrument/recording.h"

namespace spng::app {

/// Print one line of JSON on stdout for each run when its output is complete: input, status (the exit status of a program of
/// its own), events, seconds, and the error block of a failed run. A failed run ends the program, unless failed events are
/// skipped (--on-error skip). Each run gives the output that a program of its own gives.
/// @param recording  that of --record, for a list of one file
/// @return 0; the status of the run that ended the program; 1 if runs failed and others were done; 128 + signal
int run_files(const CommandLine& line, instrument::Recording& recording);

} // namespace spng::app
