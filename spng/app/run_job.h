// SPDX-License-Identifier: Apache-2.0
#pragma once
// Load a configuration, build the job, and run, check or draw it.

#include "spng/app/command_line.h"
#include "spng/app/configuration.h"
#include "spng/engine/job.h"

#include <memory>
#include <string>

namespace spng::app {

struct LoadedJob {
    Configuration configuration;
    std::unique_ptr<Job> job;
    /// One line on how the job processes its anodes, and why; empty if the configuration left no choice.
    std::string anodes;
};

/// Load the configuration, its plugins and the job.
///
/// A configuration asks `std.native('spng_batches_anodes')(device)` whether the anodes of a job on the device, the
/// text of SPNGContext's key, shall share tensors (`batch_anodes=auto` of cfg/pipeline.jsonnet). The answer is true
/// for CUDA devices. If the resulting job does not fit their memory (Job::fits_devices()), the configuration is
/// evaluated again, with false.
/// @throws as load_configuration() and Job()
LoadedJob load_job(const CommandLine& line);

/// @param recording  that of --record, begun before the first range
/// @return the exit status: 0; 1 if events were skipped and none was completed; 128 + signal if a signal stopped
/// the run; the status of the error if the device was lost
/// @throws Error of the configuration and of the run
int run_job(const CommandLine& line, instrument::Recording& recording);

} // namespace spng::app
