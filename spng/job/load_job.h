// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the name of a configuration to a job.

#include "spng/job/configuration.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "spng/job/placeholders.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct JobRequest {
    std::string configuration; ///< file
    std::vector<JsonnetBinding> bindings;
    std::string app; ///< engine; empty: that of the configuration
    /// Of the first run: values of placeholders in the strings of the evaluated configuration.
    PlaceholderValues values = {};
    std::vector<std::string> changes = {}; ///< of keys, see change_keys()
};

struct LoadedJob {
    Configuration configuration; ///< with its placeholders
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
/// @throws as load_configuration(), change_keys() and Job()
LoadedJob load_job(const JobRequest& request);
} // namespace spng
