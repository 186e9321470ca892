// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture range for profilers that wait for one, such as `nsys profile -c cudaProfilerApi`.

namespace spng::instrument {

/// Call cudaProfilerStart() of the loaded CUDA runtime.
/// @return whether a runtime is loaded and accepted it
bool start_device_profiler();
/// Call cudaProfilerStop() of the loaded CUDA runtime. Do nothing if none is loaded.
void stop_device_profiler();

} // namespace spng::instrument
