#pragma once
// Load a configuration, build the job, and run it or only check or draw it.

#include "spng/app/command_line.h"

namespace spng::app {

/// Returns the exit status of a run that ended: 0; 1 when events were skipped and none was completed; 130 or
/// 143 when a signal stopped it. Throws what configuring and running throw.
int run_job(const CommandLine& line);

} // namespace spng::app
