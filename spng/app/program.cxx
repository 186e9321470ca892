// SPDX-License-Identifier: Apache-2.0
#include "spng/app/program.h"

#include "spng/app/command_line.h"
#include "spng/app/crash.h"
#include "spng/app/describe.h"
#include "spng/app/print.h"
#include "spng/app/run_files.h"
#include "spng/app/run_job.h"
#include "spng/app/serve.h"
#include "spng/core/error.h"
#include "spng/core/log/input_warning.h"
#include "spng/core/log/log.h"
#include "spng/core/log/log_file.h"
#include "spng/core/printable.h"
#include "spng/device/memory/host_buffers.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/device/process_owner.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/instrument/nvtx_level.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/start_up.h"
#include "spng/io/data_path.h"
#include "spng/job/configuration.h"
#include "spng/job/plugins.h"
#include "spng/job/version.h"
#include "spng/nodes/dnn/accepted_models.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace spng::app {
namespace {

bool is_about_a_job(Action action) {
    return action == Action::run || action == Action::serve || action == Action::check ||
           action == Action::draw;
}

void set_up(const CommandLine& line) {
    report_crashes();
    own_process();
    reuse_host_buffers(); // before the thread of libjsonnet, which would grow a heap of its own page by page
    instrument::count_cpu_allocations();
    set_strict(line.strict);
    if (!line.only_models.empty()) {
        accept_only_models(line.only_models);
    }
    if (line.nvtx_level.empty()) {
        instrument::apply_nvtx_level_of_environment();
    } else {
        instrument::set_nvtx_level(line.nvtx_level, "--nvtx-level");
    }
    if (is_about_a_job(line.action)) {
        log::hold_files(); // run_job() opens them when the inputs of the job are known
    }
    for (const auto& sink : line.log_sinks) {
        log::add_sink(sink);
    }
    for (const auto& level : line.log_levels) {
        log::set_level(level);
    }
    std::vector<std::filesystem::path> folders(line.path.begin(), line.path.end());
    for (auto& folder : folders_of_environment("WIRECELL_PATH")) {
        folders.push_back(std::move(folder));
    }
    set_search_path(std::move(folders));
}

int dispatch(const CommandLine& line, instrument::Recording& recording) {
    switch (line.action) {
    case Action::help:
        print_result(help_text());
        return 0;
    case Action::version:
        print_result(version_text());
        return 0;
    case Action::list:
        print_result(list_types(Registry::instance()));
        return 0;
    case Action::describe:
        print_result(line.type.ends_with(".jsonnet") ? describe_arguments(find_configuration(line.type))
                                                     : describe_type(Registry::instance(), line.type));
        return 0;
    case Action::schema:
        print_result(schema_of_type(Registry::instance(), line.type).dump(2) + "\n");
        return 0;
    case Action::recover:
        print_result(printable(instrument::recover_recording(line.part_file, "")) + " recovered\n");
        return 0;
    case Action::serve:
        return serve(line);
    case Action::run:
    case Action::check:
    case Action::draw:
        break;
    }
    return line.action == Action::run && !line.file_list.empty() ? run_files(line, recording)
                                                                 : run_job(line, recording);
}

} // namespace

int run_program(int argc, const char* const* argv) noexcept {
    try {
        try {
            instrument::end_first_phase("load program");
            const CommandLine line = parse_command_line(argc, argv);
            set_up(line);
            instrument::Recording recording(line.action == Action::run ? line.recording
                                                                       : instrument::RecordingRequest{});
            instrument::end_first_phase(recording.active() ? "start recorder" : "read command line");
            for (const auto& plugin : line.plugins) {
                load_plugin(plugin);
            }
            return dispatch(line, recording);
        } catch (...) {
            const Error error = current_error();
            std::fprintf(stderr, "%s\n", error.what());
            log::give_up_held_files();
            return error.exit_status();
        }
    } catch (...) {
        // No memory for the message.
        std::fputs("error: memory is exhausted\n", stderr);
        return 1;
    }
}

} // namespace spng::app

int spng_run_program(int argc, const char* const* argv) {
    return spng::app::run_program(argc, argv);
}
