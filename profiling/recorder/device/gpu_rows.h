// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/device/driver_functions.h"
#include "profiling/recorder/recorder.h"

namespace spng::recorder {

/// Add a row for each device that the process sees. CUPTI has records of them too, but gives them only to tools that
/// are loaded before CUDA starts.
void add_gpu_rows(const DriverFunctions& driver, Recorder& recorder);

} // namespace spng::recorder
