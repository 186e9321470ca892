// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/capture_range.h"

#include "spng/instrument/cuda_runtime.h"

namespace spng::instrument {

bool start_device_profiler() {
    const CudaRuntime* const runtime = cuda_runtime();
    return runtime != nullptr && runtime->profiler_start() == 0;
}

void stop_device_profiler() {
    if (const CudaRuntime* const runtime = cuda_runtime()) {
        runtime->profiler_stop();
    }
}

} // namespace spng::instrument
