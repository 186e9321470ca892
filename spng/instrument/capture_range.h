// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture range for profilers that wait for one, such as `nsys profile -c cudaProfilerApi`.

namespace spng::instrument {

/// Call cudaProfilerStart() and cudaProfilerStop() of the loaded CUDA runtime. Do nothing if none is loaded.
void start_device_profiler();
void stop_device_profiler();

} // namespace spng::instrument
