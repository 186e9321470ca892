// SPDX-License-Identifier: Apache-2.0
#pragma once
// Load the job of the command line, and run, check or draw it.

#include "spng/app/command_line.h"
#include "spng/instrument/recording.h"

namespace spng::app {

/// @param recording  that of --record, begun before the first range
/// @return the exit status: 0; 1 if events were skipped and none was completed; 128 + signal if a signal stopped
/// the run; the status of the error if the device was lost
/// @throws Error of the configuration and of the run
int run_job(const CommandLine& line, instrument::Recording& recording);

} // namespace spng::app
