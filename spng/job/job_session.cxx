// SPDX-License-Identifier: Apache-2.0
#include "spng/job/job_session.h"

#include "spng/core/files/sha256.h"
#include "spng/core/printable.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/start_up.h"
#include "spng/io/data_file_reader.h"
#include "spng/job/version.h"

#include <iomanip>
#include <sstream>
#include <utility>

namespace spng {
namespace {

/// Return paths and checksums of the configuration and the data files. The checksum of a configuration covers the
/// evaluated JSON, hence also imports and arguments.
nlohmann::json provenance(const Configuration& configuration, const PlaceholderValues& values,
                          const Job& job) {
    using json = nlohmann::json;
    const std::string evaluated = json_text(with_values(configuration.components, values));
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

} // namespace

void JobSession::prepare(RunOptions options) {
    m_options = std::move(options);
    const nlohmann::json settings = job().settings(m_options);
    // If several nodes run at the same time, the clock of the process would charge each with the work of all.
    m_options.meter_mode.cpu_clock = settings.at("engine") == "TbbFlow" && settings.at("graph_threads") > 1
                                         ? instrument::CpuClock::Thread
                                         : instrument::CpuClock::Process;
    job().prepare(m_options);
}

RunSummary JobSession::run(const std::function<RunSummary(Job&, const RunOptions&)>& call) {
    m_begin = instrument::wall_nanoseconds();
    RunSummary summary = call(job(), m_options);
    m_completed_events = summary.events_done;
    m_end = instrument::wall_nanoseconds();
    return summary;
}

void JobSession::change_files(PlaceholderValues values) {
    m_origin = instrument::begin_report();
    m_begin = m_end = 0;
    m_completed_events = 0;
    m_request.values = std::move(values);
    job().change_files(with_values(configuration().components, m_request.values));
}

void JobSession::restart() {
    const instrument::StartUpPhase phase("restart nodes");
    job().restart();
}

void JobSession::add_given(nlohmann::json& settings) const {
    nlohmann::json& given = settings["arguments"] = nlohmann::json::object();
    for (const auto& binding : m_request.bindings) {
        given[binding.name] = with_values(binding.value, m_request.values);
    }
    settings["defaults"] = configuration().defaults;
    if (!m_request.changes.empty()) {
        settings["set"] = m_request.changes;
    }
}

instrument::RunReport JobSession::report(bool with_provenance) const {
    const BuildInfo& build = build_info();
    nlohmann::json settings = job().settings(m_options);
    instrument::RunDescription description;
    description.version = build.version;
    description.commit = build.commit;
    description.build = build.build;
    description.torch_version = build.torch_version;
    description.devices = job().devices();
    description.engine = settings.at("engine");
    description.precision =
        settings.at("precision").get<std::string>() + " " + settings.at("dtype").get<std::string>();
    description.graph_threads = settings.at("graph_threads");
    description.intra_op_threads = settings.at("threads");
    description.mode = m_options.meter_mode;
    const std::int64_t begin = m_begin, end = m_end;
    description.wall_seconds =
        begin == 0 ? 0
                   : 1e-9 * static_cast<double>((end == 0 ? instrument::wall_nanoseconds() : end) - begin);
    if (end != 0) {
        description.completed_events = m_completed_events;
    }
    description.start_up = instrument::start_up_rows();
    description.origin = m_origin;
    add_given(settings);
    description.about = job().about();
    for (const UsedFile& file : job().used_files(Job::MissingInputs::left_out)) {
        const auto* const component = job().environment().find(file.user);
        // Data files of the detector are in the provenance.
        if (dynamic_cast<const Service*>(component) == nullptr &&
            dynamic_cast<const DataFileReader*>(component) == nullptr) {
            (file.is_written ? description.files_written : description.files_read)
                .push_back(file.path.string());
        }
    }
    description.input = job().input_report();
    description.settings = std::move(settings);
    if (with_provenance) {
        description.provenance = provenance(configuration(), m_request.values, job());
    }
    return {std::move(description), job().meters()};
}

void JobSession::describe(instrument::Recording& recording) const {
    if (!recording.active()) {
        return;
    }
    const BuildInfo& build = build_info();
    const std::string text = json_text(with_values(configuration().components, m_request.values));
    nlohmann::json settings = job().settings(m_options);
    add_given(settings);
    recording.note("version", build.version);
    recording.note("commit", build.commit);
    recording.note("build", build.build);
    recording.note("torch_version", build.torch_version);
    recording.note("configuration_file", configuration().file.string());
    recording.note("configuration", text);
    recording.note("configuration_hash", hash_of(text));
    recording.note("settings", json_text(settings));
    for (const char* const key : {"engine", "device", "precision", "dtype", "threads", "graph_threads"}) {
        const auto& value = settings.at(key);
        recording.note(key, value.is_string() ? value.get<std::string>() : json_text(value));
    }
    recording.note("synchronised_timing", m_options.meter_mode.synchronise ? "1" : "0");
}

} // namespace spng
