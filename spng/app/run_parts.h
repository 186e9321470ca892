// SPDX-License-Identifier: Apache-2.0
#pragma once
// Steps that the run of one job (run_job.h) and the runs of a list of files (run_files.h) share.

#include "spng/app/command_line.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"

#include <filesystem>
#include <vector>

namespace spng::app {

/// Check that no file of the nodes and the command line is written twice, or written and read. Call before any
/// file is written.
/// @throws Error(Configuration); Error(Output) if a file of the command line cannot be written
void require_separate_files(const CommandLine& line, const std::filesystem::path& configuration,
                            const Job& job);

/// Return the arguments of the job for a list of files: `input` is the placeholder {input} unless the command line gives it.
std::vector<JsonnetBinding> arguments_of_list(const CommandLine& line);

RunOptions run_options(const CommandLine& line);

/// Print skipped events, the signal and the lost device of a run.
/// @return the exit status of the run
int outcome(const RunSummary& summary);

} // namespace spng::app
