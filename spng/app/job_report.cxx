// SPDX-License-Identifier: Apache-2.0
#include "spng/app/job_report.h"

#include "spng/app/version.h"
#include "spng/core/files/sha256.h"
#include "spng/instrument/start_up.h"

#include <algorithm>
#include <iomanip>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace spng::app {
namespace {

nlohmann::json given_bindings(const CommandLine& line) {
    nlohmann::json given = nlohmann::json::object();
    for (const auto& binding : line.bindings) {
        given[binding.name] = binding.value;
    }
    return given;
}

/// Return paths and checksums of the configuration and the data files. The checksum of a configuration covers the
/// evaluated JSON, hence also imports and arguments.
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

/// Return the 64-bit FNV-1a hash as hexadecimal digits, to distinguish configurations; not cryptographic.
std::string hash_of(const std::string& text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const unsigned char byte : text) {
        hash = (hash ^ byte) * 0x100000001b3;
    }
    std::ostringstream digits;
    digits << std::hex << std::setw(16) << std::setfill('0') << hash;
    return digits.str();
}

constexpr std::size_t columns_of_a_file = 100;
constexpr std::size_t min_columns = 60;

} // namespace

std::size_t report_columns(const CommandLine& line) {
    if (line.wide_table) {
        return instrument::unlimited_width;
    }
    winsize terminal{};
    const bool is_known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &terminal) == 0 && terminal.ws_col > 0;
    return is_known ? std::max<std::size_t>(terminal.ws_col, min_columns) : columns_of_a_file;
}

instrument::RunReport run_report(const CommandLine& line, const Configuration& configuration, const Job& job,
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
    description.start_up = instrument::start_up_rows();
    settings["arguments"] = given_bindings(line);
    settings["reservations"] = json_of(reservations);
    description.input = job.input_report();
    description.settings = std::move(settings);
    if (!line.timing_file.empty()) {
        description.provenance = provenance(configuration, job);
    }
    return {std::move(description), job.meters()};
}

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

} // namespace spng::app
