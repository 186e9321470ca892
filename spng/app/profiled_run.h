// SPDX-License-Identifier: Apache-2.0
#pragma once
// The run of a job under profilers: its range, LibTorch's profiler, and control from outside.

#include "spng/app/command_line.h"
#include "spng/instrument/control/capture_control.h"
#include "spng/instrument/event_window.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/report/torch_profiler.h"
#include "spng/job/job.h"

#include <memory>
#include <vector>

namespace spng::app {

/// Make and prepare LibTorch's profiler of --torch-profiler.
/// @return null without --torch-profiler
/// @throws Error(Usage) for an engine other than Pgrapher
std::unique_ptr<instrument::TorchProfiler> make_torch_profiler(const CommandLine& line,
                                                               const nlohmann::json& settings,
                                                               const std::vector<c10::Device>& devices);

/// Run the job in one range, to which all shares of time refer.
/// @param events    the capture window of the profiler
/// @param profiler  may be null
RunSummary run_in_range(Job& job, const RunOptions& options, const instrument::EventWindow& events,
                        instrument::TorchProfiler* profiler);

/// Make the control of a run from outside (--profile-control, signals), and print its address.
/// @return null without --profile-control and without a recording
std::unique_ptr<instrument::CaptureControl> make_capture_control(const CommandLine& line,
                                                                 const instrument::Recording& recording);

} // namespace spng::app
