// SPDX-License-Identifier: Apache-2.0
#include "spng/app/run_job.h"

#include "spng/app/file_list.h"
#include "spng/app/print.h"
#include "spng/app/profiled_run.h"
#include "spng/app/progress.h"
#include "spng/app/run_parts.h"
#include "spng/app/serve.h"
#include "spng/app/signals.h"
#include "spng/core/error.h"
#include "spng/core/files/partial_file.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"
#include "spng/core/parse_value.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/control/time_limit.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/report/memory_snapshot.h"
#include "spng/instrument/start_up.h"
#include "spng/job/job.h"
#include "spng/job/job_session.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace spng::app {
namespace {

void draw(const Job& job, const std::string& file) {
    if (file == "-") {
        print_result(job.dot());
        return;
    }
    const std::string drawing = job.dot();
    PartialFile output(file);
    output.write({reinterpret_cast<const std::uint8_t*>(drawing.data()), drawing.size()});
    output.commit();
}

constexpr std::size_t columns_of_a_file = 100;
constexpr std::size_t min_columns = 60;

/// Return the width of the timing table: unlimited with --table wide, else that of the variable COLUMNS, else that of
/// the terminal, else 100 characters; at least 60.
std::size_t report_columns(const CommandLine& line) {
    if (line.wide_table) {
        return instrument::unlimited_width;
    }
    const char* const given = std::getenv("COLUMNS");
    if (const auto columns = parse_value<std::size_t>(given == nullptr ? "" : given);
        columns && *columns > 0) {
        return std::max(*columns, min_columns);
    }
    winsize terminal{};
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0;
    return is_known ? std::max<std::size_t>(terminal.ws_col, min_columns) : columns_of_a_file;
}

int run(const CommandLine& line, JobSession& session, instrument::Recording& recording, Progress& progress) {
    install_signal_handlers();
    RunOptions given = run_options(line);
    given.counts = &progress.counts();
    const Job& job = session.job();
    const instrument::Stopwatch preparation;
    instrument::MemorySnapshot snapshot(line.memory_snapshot_file);
    session.prepare(std::move(given));
    snapshot.require_history(job.devices());
    log::info("wire-cell", [&] { return "prepared in " + std::to_string(preparation.seconds()) + " s"; });
    session.describe(recording);
    const auto profiler = make_torch_profiler(line, job.settings(session.options()), job.devices());
    recording.run_begins();
    const auto control = make_capture_control(line, recording);
    progress.run_begins(job);
    const instrument::Stopwatch running;
    const RunSummary summary = session.run([&](Job& the_job, const RunOptions& options) {
        return run_in_range(the_job, options, line.recording.window, profiler.get());
    });
    progress.finish();
    const double seconds = running.seconds();
    const auto measured = session.report(!line.timing_file.empty());
    std::optional<Error> not_printed; // thrown when all files are written
    try {
        print_result(measured.table(report_columns(line)));
    } catch (const Error& error) {
        not_printed = error;
    }
    if (!line.timing_file.empty()) {
        measured.write_json(line.timing_file);
    }
    if (const std::string file = snapshot.write(); !file.empty()) {
        print_message("snapshot of the device memory in " + file + "\n");
    }
    if (profiler) {
        const int files = profiler->finish();
        print_message(std::to_string(files) + " traces of LibTorch's profiler in " + line.torch_profiler +
                      "\n");
    }
    recording.note("events", std::to_string(summary.events_done));
    recording.note("run_seconds", std::to_string(seconds));
    if (const std::string file = recording.finish(); !file.empty()) {
        print_message("profile recorded in " + file + "\n");
    }
    const int status = outcome(summary);
    if (not_printed && status == 0) {
        throw Error(*not_printed);
    }
    if (not_printed) { // what ended the run is worse
        print_message(std::string(not_printed->what()) + "\n");
    }
    return status;
}

/// Print what would make a run fail.
/// @param problems     that were found before
/// @param with_inputs  look at the input, too
/// @return whether there is anything
bool report_problems(Job& job, std::vector<Error> problems, bool with_inputs) {
    const auto of_job = job.find_problems(with_inputs);
    problems.insert(problems.end(), of_job.begin(), of_job.end());
    for (const Error& problem : problems) {
        print_message(std::string(problem.what()) + "\n");
    }
    if (problems.size() > 1) {
        print_message(std::to_string(problems.size()) + " problems\n");
    }
    return !problems.empty();
}

JobRequest request_of(const CommandLine& line) {
    if (line.file_list.empty()) {
        return {line.configuration, line.bindings, line.app, {}, line.changes};
    }
    JobRequest request{line.configuration, arguments_of_list(line), line.app, {}, line.changes};
    if (line.checks_machine) { // --check looks at the first file of the list; of an empty list, at none
        request.values = FileList(line.file_list).next(stop_signal()).value_or(PlaceholderValues{});
    }
    return request;
}

} // namespace

int run_job(const CommandLine& line, instrument::Recording& recording) {
    set_time_limit_handler(end_hanging_program);
    // Progress begins before the job is loaded, and must end before the job, which it asks.
    std::optional<JobSession> loaded;
    Progress progress(line.action == Action::run ? Progress::style_for(line.progress)
                                                 : Progress::Style::none);
    JobSession& session = loaded.emplace(line.serve ? job_of_server(line) : request_of(line));
    const Configuration& configuration = session.configuration();
    const Job& job = session.job();
    std::vector<Error> problems;
    try {
        require_separate_files(line, configuration.file, job);
    } catch (const Error& error) {
        if (line.action != Action::check) {
            throw;
        }
        problems.push_back(error);
    }
    log::open_held_files();
    switch (line.action) {
    case Action::draw:
        draw(job, line.dot_file);
        return 0;
    case Action::check:
        if (!line.checks_machine && !problems.empty()) {
            throw Error(problems.front());
        }
        if (line.checks_machine && report_problems(session.job(), std::move(problems),
                                                   line.file_list.empty() || session.has_values())) {
            return 2;
        }
        print_result(configuration.file.string() + ": " + std::to_string(job.graph().vertices().size()) +
                     " nodes, " + std::to_string(job.graph().edges().size()) + " edges, valid\n" +
                     (job.about().empty() ? "" : job.about() + "\n") +
                     (session.anodes().empty() ? "" : "anodes: " + session.anodes() + "\n") +
                     job.memory_text());
        return 0;
    default:
        return run(line, session, recording, progress);
    }
}

} // namespace spng::app
