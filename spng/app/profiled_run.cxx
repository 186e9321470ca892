// SPDX-License-Identifier: Apache-2.0
#include "spng/app/profiled_run.h"

#include "spng/app/print.h"
#include "spng/core/error.h"
#include "spng/instrument/capture_switch.h"
#include "spng/instrument/node_range.h"
#include "spng/instrument/start_up.h"

namespace spng::app {
namespace {

/// Run the job with the profiler on during the capture window.
RunSummary run_profiled(Job& job, const RunOptions& options, const instrument::EventWindow& events,
                        instrument::TorchProfiler& profiler) {
    if (events.is_everything()) {
        profiler.open_window();
    } else {
        instrument::recording::on_window(
            [&profiler](bool open) { open ? profiler.open_window() : profiler.close_window(); });
    }
    const RunSummary summary = job.run(options);
    instrument::recording::on_window({});
    profiler.close_window();
    return summary;
}

} // namespace

std::unique_ptr<instrument::TorchProfiler> make_torch_profiler(const CommandLine& line,
                                                               const nlohmann::json& settings,
                                                               const std::vector<c10::Device>& devices) {
    if (line.torch_profiler.empty()) {
        return nullptr;
    }
    if (settings.at("engine") != "Pgrapher") {
        throw Error(ErrorKind::Usage, {.what = "--torch-profiler works with one thread only",
                                       .where = "command line",
                                       .seen = "the engine " + settings.at("engine").get<std::string>(),
                                       .expected = "Pgrapher",
                                       .hint = "-a Pgrapher"});
    }
    const instrument::StartUpPhase phase("start LibTorch's profiler");
    auto profiler = std::make_unique<instrument::TorchProfiler>(line.torch_profiler, devices.front());
    profiler->prepare();
    return profiler;
}

RunSummary run_in_range(Job& job, const RunOptions& options, const instrument::EventWindow& events,
                        instrument::TorchProfiler* profiler) {
    static const instrument::NodeLabel label("run", "event");
    const instrument::NodeRange range(label);
    return profiler == nullptr ? job.run(options) : run_profiled(job, options, events, *profiler);
}

std::unique_ptr<instrument::CaptureControl> make_capture_control(const CommandLine& line,
                                                                 const instrument::Recording& recording) {
    if (!line.control && !recording.active()) {
        return nullptr;
    }
    auto control = std::make_unique<instrument::CaptureControl>(line.control, "--profile-control");
    if (line.control) {
        print_message("wire-cell: listening at " + control->address() + "\n");
    }
    return control;
}

} // namespace spng::app
