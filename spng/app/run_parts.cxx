// SPDX-License-Identifier: Apache-2.0
#include "spng/app/run_parts.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/app/print.h"
#include "spng/app/signals.h"
#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"
#include "spng/instrument/recording.h"
#include "spng/io/file_user.h"
#include "spng/nodes/dnn/accepted_models.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace spng::app {

void require_separate_files(const CommandLine& line, const std::filesystem::path& configuration,
                            const Job& job) {
    const bool runs = line.action == Action::run;
    std::vector<UsedFile> files =
        job.used_files(runs ? Job::MissingInputs::rejected : Job::MissingInputs::left_out);
    files.push_back({"-c", configuration, false});
    if (!line.only_models.empty() && line.only_models != shipped_models) {
        files.push_back({"--only-models", line.only_models, false});
    }
    if (!line.file_list.empty() && line.file_list != "-") {
        files.push_back({"--files", line.file_list, false});
    }
    const auto add_output = [&files](const char* flag, const std::string& file, OutputKind kind) {
        if (!file.empty() && file != "-") {
            files.push_back({flag, file, true, kind});
        }
    };
    const auto add_report = [&](const char* flag, const std::string& file, OutputKind kind) {
        add_output(flag, file, kind);
        if (!file.empty() && file != "-") {
            try {
                require_writable(file);
            } catch (Error& error) {
                error.add_where(flag);
                throw;
            }
        }
    };
    if (runs || line.action == Action::serve) {
        add_report("--timing", line.timing_file, OutputKind::json);
    }
    if (runs) {
        add_report("--memory-snapshot", line.memory_snapshot_file, OutputKind::pickle);
        const auto* const recorder = instrument::recording::recorder();
        add_output("--record", recorder != nullptr ? recorder->final_file() : "", OutputKind::recording);
    }
    if (line.action == Action::draw) {
        add_output("--dot", line.dot_file, OutputKind::graph);
    }
    require_separate(files);
    const auto logs = log::held_files();
    for (const auto& file : std::set<std::string>(logs.begin(), logs.end())) { // levels may share a file
        add_output("-l", file, OutputKind::log);
    }
    try {
        require_separate(files);
        for (const UsedFile& file : files) {
            if (file.is_written && line.action != Action::check && !line.overwrite) {
                require_own_kind(file.path, file.kind, file.user);
            }
        }
    } catch (const Error&) {
        log::drop_held_files();
        throw;
    }
}

std::vector<JsonnetBinding> arguments_of_list(const CommandLine& line) {
    std::vector<JsonnetBinding> arguments = line.bindings;
    const bool has_input = std::any_of(arguments.begin(), arguments.end(), [](const JsonnetBinding& given) {
        return given.is_argument() && given.name == "input";
    });
    if (!has_input) {
        arguments.push_back({JsonnetBinding::Kind::argument_text, "input", "{input}"});
    }
    return arguments;
}

RunOptions run_options(const CommandLine& line) {
    RunOptions options;
    options.graph_threads = line.graph_threads;
    options.skip_failed = line.skip_failed;
    options.stop_signal = &stop_signal();
    options.meter_mode.synchronise = line.synchronised_timing;
    return options;
}

int outcome(const RunSummary& summary) {
    for (const auto& event : summary.skipped) {
        print_message("event " + std::to_string(event.index) + " skipped\n" + event.reason + "\n");
    }
    if (!summary.skipped.empty()) {
        print_message(std::to_string(summary.skipped.size()) + " events skipped, " +
                      std::to_string(summary.events_done) + " completed\n");
    }
    if (summary.stopped_by != 0) {
        print_message("stopped by " + signal_name(summary.stopped_by) + " after " +
                      std::to_string(summary.events_done) + " completed events\n");
        return 128 + summary.stopped_by;
    }
    if (summary.device_error) {
        print_message(std::string(summary.device_error->what()) + "\n");
        return summary.device_error->exit_status();
    }
    return !summary.skipped.empty() && summary.events_done == 0 ? 1 : 0;
}

} // namespace spng::app
