#pragma once
// A window for profilers that wait for one, as `nsys profile -c cudaProfilerApi` does.

namespace spng::instrument {

/// cudaProfilerStart() and cudaProfilerStop() of the CUDA runtime that is loaded; nothing where none is.
void start_device_profiler();
void stop_device_profiler();

} // namespace spng::instrument
