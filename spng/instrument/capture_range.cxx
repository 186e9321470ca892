// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/capture_range.h"

#include "spng/instrument/cuda_runtime.h"

namespace spng::instrument {

void start_device_profiler() {
    if (const CudaRuntime* const runtime = cuda_runtime()) {
        runtime->profiler_start();
    }
}

void stop_device_profiler() {
    if (const CudaRuntime* const runtime = cuda_runtime()) {
        runtime->profiler_stop();
    }
}

} // namespace spng::instrument
