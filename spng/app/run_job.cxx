#include "spng/app/run_job.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/app/configuration.h"
#include "spng/app/job_reservations.h"
#include "spng/app/plugins.h"
#include "spng/app/signals.h"
#include "spng/app/version.h"
#include "spng/core/error.h"
#include "spng/core/files/partial_file.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"
#include "spng/core/sha256.h"
#include "spng/engine/job.h"
#include "spng/instrument/capture_switch.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/control/capture_control.h"
#include "spng/instrument/node_range.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/report/run_report.h"
#include "spng/instrument/report/state_trace.h"
#include "spng/instrument/report/torch_profiler.h"

#include <cstdio>
#include <iomanip>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

namespace spng::app {
namespace {

void print(std::FILE* stream, const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
}

void draw(const Job& job, const std::string& file) {
    if (file == "-") {
        print(stdout, job.dot());
        return;
    }
    const std::string drawing = job.dot();
    PartialFile output(file);
    output.write({reinterpret_cast<const std::uint8_t*>(drawing.data()), drawing.size()});
    output.commit();
}

/// Compare the files of the nodes and of the command line, before any of them is written. Throws
/// Error(Configuration).
void require_separate_files(const CommandLine& line, const Configuration& configuration, const Job& job,
                            const instrument::Recording& recording) {
    const bool runs = line.action == Action::run;
    std::vector<UsedFile> files =
        job.used_files(runs ? Job::MissingInputs::rejected : Job::MissingInputs::left_out);
    files.push_back({"-c", configuration.file, false});
    const auto add_output = [&files](const char* flag, const std::string& file) {
        if (!file.empty() && file != "-") {
            files.push_back({flag, file, true});
        }
    };
    if (runs) {
        add_output("--timing", line.timing_file);
        add_output("--trace-states", line.states_file);
        add_output("--record", recording.active() ? instrument::recording::recorder()->final_file() : "");
    }
    if (line.action == Action::draw) {
        add_output("--dot", line.dot_file);
    }
    const auto logs = log::held_files();
    for (const auto& file : std::set<std::string>(logs.begin(), logs.end())) { // several levels may share one
        add_output("-l", file);
    }
    try {
        require_separate(files);
    } catch (const Error&) {
        log::drop_held_files();
        throw;
    }
}

RunOptions run_options(const CommandLine& line, const Job& job) {
    RunOptions options;
    options.graph_threads = line.graph_threads;
    options.skip_failed = line.skip_failed;
    options.stop_signal = &stop_signal();
    options.meter_mode.synchronise = line.synchronised_timing;
    // Where several nodes run at the same time, the process's clock would charge each with the work of all.
    const auto settings = job.settings(options);
    options.meter_mode.cpu_clock = settings.at("engine") == "TbbFlow" && settings.at("graph_threads") > 1
                                       ? instrument::CpuClock::Thread
                                       : instrument::CpuClock::Process;
    return options;
}

nlohmann::json given_bindings(const CommandLine& line) {
    nlohmann::json given = nlohmann::json::object();
    for (const auto& binding : line.bindings) {
        given[binding.name] = binding.value;
    }
    return given;
}

/// Which configuration and which data files ran, by path and content. The checksum of a configuration is that
/// of the JSON that it evaluates to, so that imports and arguments count.
nlohmann::json provenance(const Configuration& configuration, const Job& job) {
    using json = nlohmann::json;
    const std::string evaluated =
        configuration.components.dump(-1, ' ', false, json::error_handler_t::replace);
    json files = json::array();
    for (const DataFile& file : job.data_files()) {
        files.push_back(json_of(file));
    }
    return {
        {"configuration",
         {{"path", std::filesystem::absolute(configuration.file).string()}, {"sha256", sha256(evaluated)}}},
        {"files", std::move(files)}};
}

instrument::RunReport report(const CommandLine& line, const Configuration& configuration, const Job& job,
                             const RunOptions& options, const JobReservations& reservations,
                             double wall_seconds) {
    const BuildInfo& build = build_info();
    nlohmann::json settings = job.settings(options);
    instrument::RunDescription description;
    description.version = build.version;
    description.commit = build.commit;
    description.build = build.build;
    description.torch_version = build.torch_version;
    description.devices = job.devices();
    description.engine = settings.at("engine");
    description.precision =
        settings.at("precision").get<std::string>() + " " + settings.at("dtype").get<std::string>();
    description.graph_threads = settings.at("graph_threads");
    description.intra_op_threads = settings.at("threads");
    description.mode = options.meter_mode;
    description.wall_seconds = wall_seconds;
    settings["arguments"] = given_bindings(line);
    settings["reservations"] = json_of(reservations);
    description.input = job.input_report();
    description.settings = std::move(settings);
    if (!line.timing_file.empty()) {
        description.provenance = provenance(configuration, job);
    }
    return {std::move(description), job.meters()};
}

int outcome(const RunSummary& summary) {
    for (const auto& event : summary.skipped) {
        print(stderr, "event " + std::to_string(event.index) + " skipped\n" + event.reason + "\n");
    }
    if (!summary.skipped.empty()) {
        print(stderr, std::to_string(summary.skipped.size()) + " events skipped, " +
                          std::to_string(summary.events_done) + " completed\n");
    }
    if (summary.stopped_by != 0) {
        print(stderr, "stopped by " + signal_name(summary.stopped_by) + " after " +
                          std::to_string(summary.events_done) + " completed events\n");
        return 128 + summary.stopped_by;
    }
    if (summary.device_error) {
        print(stderr, std::string(summary.device_error->what()) + "\n");
        return summary.device_error->exit_status();
    }
    return !summary.skipped.empty() && summary.events_done == 0 ? 1 : 0;
}

/// 64 bits of FNV-1a as hexadecimal digits: tells configurations apart, guards against nothing.
std::string hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char byte : text) {
        hash = (hash ^ byte) * 0x100000001b3;
    }
    std::ostringstream digits;
    digits << std::hex << std::setw(16) << std::setfill('0') << hash;
    return digits.str();
}

/// What the manifest of a recording says about the program and the job.
void describe_job(instrument::Recording& recording, const CommandLine& line,
                  const Configuration& configuration, const Job& job, const RunOptions& options) {
    if (!recording.active()) {
        return;
    }
    const BuildInfo& build = build_info();
    const std::string text = configuration.components.dump();
    nlohmann::json settings = job.settings(options);
    settings["arguments"] = given_bindings(line);
    recording.note("version", build.version);
    recording.note("commit", build.commit);
    recording.note("build", build.build);
    recording.note("torch_version", build.torch_version);
    recording.note("configuration_file", configuration.file.string());
    recording.note("configuration", text);
    recording.note("configuration_hash", hash_of(text));
    recording.note("settings", settings.dump());
    for (const char* const key : {"engine", "device", "precision", "dtype", "threads", "graph_threads"}) {
        const auto& value = settings.at(key);
        recording.note(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    recording.note("synchronised_timing", options.meter_mode.synchronise ? "1" : "0");
}

/// LibTorch's profiler for --torch-profiler; null when it was not asked for.
std::unique_ptr<instrument::TorchProfiler> torch_profiler(const CommandLine& line,
                                                          const nlohmann::json& settings,
                                                          const std::vector<c10::Device>& devices) {
    if (line.torch_profiler.empty()) {
        return nullptr;
    }
    if (settings.at("engine") != "Pgrapher") {
        throw Error(ErrorKind::Usage, {.what = "--torch-profiler sees one thread only",
                                       .where = "command line",
                                       .seen = "the engine " + settings.at("engine").get<std::string>(),
                                       .expected = "Pgrapher",
                                       .hint = "-a Pgrapher"});
    }
    auto profiler = std::make_unique<instrument::TorchProfiler>(line.torch_profiler, devices.front());
    profiler->prepare();
    return profiler;
}

/// The run with a window of the profiler around the events that are wanted.
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

/// The run itself, as one range: what all shares of time refer to.
RunSummary run_in_range(Job& job, const RunOptions& options, const instrument::EventWindow& events,
                        instrument::TorchProfiler* profiler) {
    static const instrument::NodeLabel label("run", "event");
    const instrument::NodeRange range(label, 0);
    return profiler == nullptr ? job.run(options) : run_profiled(job, options, events, *profiler);
}

/// Lets a run be controlled from outside; null where there is nothing to control.
std::unique_ptr<instrument::CaptureControl> capture_control(const CommandLine& line,
                                                            const instrument::Recording& recording) {
    if (!line.control && !recording.active()) {
        return nullptr;
    }
    auto control = std::make_unique<instrument::CaptureControl>(line.control, "--profile-control");
    if (line.control) {
        instrument::recording::switch_window(false); // until it is told to record
        print(stderr, "wire-cell: listening at " + control->address() + "\n");
    }
    return control;
}

int run(const CommandLine& line, const Configuration& configuration, Job& job,
        instrument::Recording& recording) {
    install_signal_handlers();
    std::optional<instrument::StateTrace> trace;
    if (!line.states_file.empty()) {
        trace.emplace();
    }
    const RunOptions options = run_options(line, job);
    // Until the process ends, not this function: the job still has its memory when this returns, and who
    // waits for the reservation would meet it.
    static const JobReservations reservations =
        take_reservations(job, job.settings(options), configuration.file.string(), stop_signal());
    if (reservations.was_stopped) {
        RunSummary nothing_done;
        nothing_done.stopped_by = stop_signal();
        return outcome(nothing_done);
    }
    const instrument::Stopwatch preparation;
    job.prepare(options);
    log::info("wire-cell", [&] { return "prepared in " + std::to_string(preparation.seconds()) + " s"; });
    describe_job(recording, line, configuration, job, options);
    const auto profiler = torch_profiler(line, job.settings(options), job.devices());
    recording.run_begins();
    const auto control = capture_control(line, recording);
    const instrument::Stopwatch running;
    const RunSummary summary = run_in_range(job, options, line.recording.window, profiler.get());
    const double seconds = running.seconds();
    const auto measured = report(line, configuration, job, options, reservations, seconds);
    print(stdout, measured.table());
    if (!line.timing_file.empty()) {
        measured.write_json(line.timing_file);
    }
    if (trace) {
        trace->write(line.states_file, job.meters());
    }
    if (profiler) {
        const int files = profiler->finish();
        print(stderr,
              std::to_string(files) + " traces of LibTorch's profiler in " + line.torch_profiler + "\n");
    }
    recording.note("events", std::to_string(summary.events_done));
    recording.note("run_seconds", std::to_string(seconds));
    if (const std::string file = recording.finish(); !file.empty()) {
        print(stderr, "profile recorded in " + file + "\n");
    }
    return outcome(summary);
}

} // namespace

int run_job(const CommandLine& line) {
    const instrument::Stopwatch evaluation;
    const Configuration configuration = load_configuration(line.configuration, line.bindings);
    log::info("wire-cell", [&] {
        return configuration.file.string() + " evaluated in " + std::to_string(evaluation.seconds()) + " s";
    });
    for (const auto& plugin : configuration.plugins) {
        load_plugin(plugin);
    }
    // Before the nodes are made, since their ranges are registered with them.
    instrument::Recording recording(line.action == Action::run ? line.recording
                                                               : instrument::RecordingRequest{});
    Job job(configuration.components, configuration.file.string(), line.app);
    require_separate_files(line, configuration, job, recording);
    log::open_held_files();
    switch (line.action) {
    case Action::draw:
        draw(job, line.dot_file);
        return 0;
    case Action::check:
        print(stdout, configuration.file.string() + ": " + std::to_string(job.graph().vertices().size()) +
                          " nodes, " + std::to_string(job.graph().edges().size()) + " edges, valid\n" +
                          job.memory_text());
        return 0;
    default:
        return run(line, configuration, job, recording);
    }
}

} // namespace spng::app
