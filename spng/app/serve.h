// SPDX-License-Identifier: Apache-2.0
#pragma once
// wire-cell --serve: the chain and its network as models of a server.

#include "spng/app/command_line.h"
#include "spng/job/load_job.h"

namespace spng::app {

/// Return the job of a server: a configuration with the arguments input and output gets the parts of memory.jsonnet for them.
/// @throws Error(Usage) if they are given; Error(Configuration) if there is no such file
JobRequest job_of_server(const CommandLine& line);

/// Serve until a signal, then finish the requests that are there.
/// @return 0 after SIGTERM or SIGINT; 128 + signal after another one; the status of the error if the job has ended by itself
/// @throws Error of the configuration, and for an address that cannot be opened
int serve(const CommandLine& line);

} // namespace spng::app
