// SPDX-License-Identifier: Apache-2.0
#pragma once
// wire-cell --serve: the chain and its network as models of a server.

#include "spng/app/command_line.h"

namespace spng::app {

/// Serve until a signal, then finish the requests that are there.
/// @return 0 after SIGTERM or SIGINT; 128 + signal after another one; the status of the error if the job has ended by itself
/// @throws Error of the configuration, and for an address that cannot be opened
int serve(const CommandLine& line);

} // namespace spng::app
