// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of wire-cell, checked as far as possible without reading a file.

#include "spng/app/serve_options.h"
#include "spng/instrument/control/control_address.h"
#include "spng/instrument/recording.h"
#include "spng/job/jsonnet/jsonnet.h"

#include <optional>
#include <string>
#include <vector>

namespace spng::app {

enum class Action { run, serve, check, draw, list, describe, schema, recover, help, version };

struct CommandLine {
    Action action = Action::run;
    std::string configuration;            ///< -c or the one positional argument
    std::vector<JsonnetBinding> bindings; ///< -A, --tla-code, -V, -C
    std::vector<std::string> changes;     ///< --set, in order
    std::vector<std::string> path;        ///< -P, in order
    std::vector<std::string> plugins;     ///< -p
    std::vector<std::string> log_sinks;   ///< -l
    std::vector<std::string> log_levels;  ///< -L
    int graph_threads = 0;                ///< -t; 0: that of the configuration
    std::string file_list;                ///< --files
    std::string app;                      ///< -a
    std::string dot_file;                 ///< --dot
    std::string type;                     ///< of --describe and --schema; may be "all"
    std::string memory_snapshot_file;     ///< --memory-snapshot
    std::string nvtx_level;               ///< --nvtx-level
    std::string timing_file;              ///< --timing
    std::string torch_profiler;           ///< --torch-profiler
    std::string part_file;                ///< --recover-record
    bool skip_failed = false;             ///< --on-error skip
    bool strict = false;                  ///< --strict
    bool overwrite = false;               ///< --overwrite
    std::string only_models;              ///< --only-models, or "shipped"; empty: not given
    bool checks_machine = true;           ///< --check; false: --check-configuration
    std::optional<bool> progress;         ///< --progress, --no-progress; empty: if stderr is a terminal
    bool wide_table = false;              ///< --table wide
    bool synchronised_timing = false;     ///< --sync-timing
    std::optional<instrument::ControlAddress> control; ///< --profile-control
    std::optional<ServeRequest> serve;                 ///< --serve and related options
    instrument::RecordingRequest recording;            ///< --record and related options
};

/// @throws Error(Usage) for unknown flags (naming the nearest), missing or malformed values, more than one
/// configuration file, and a missing one
CommandLine parse_command_line(int argc, const char* const* argv);

std::string help_text();

} // namespace spng::app
