// SPDX-License-Identifier: Apache-2.0
#include "spng/app/profiling_options.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/parse_value.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace spng::app {
namespace {

namespace po = boost::program_options;

/// A value that the user gave, and the option or variable that gave it.
struct Given {
    std::string text; ///< "" without a value
    std::string where;
};

/// Return the value of the option --name, else that of the environment variable.
Given given(const po::variables_map& values, const std::string& name, const char* variable) {
    if (values.count(name) > 0) {
        return {values[name].as<std::string>(), "--" + name};
    }
    const char* const text = std::getenv(variable);
    return {text == nullptr ? "" : text, variable};
}

std::vector<std::string> parts_in(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text.empty() ? "" : text + ",");
    for (std::string part; std::getline(stream, part, ',');) {
        parts.push_back(part);
    }
    return parts;
}

/// Return the parts of a recording, separated by commas, as they are given.
std::string parts_of(const Given& given) {
    const std::vector<std::string> known = parts_in(SPNG_RECORDER_PARTS);
    for (const auto& part : parts_in(given.text)) {
        if (std::find(known.begin(), known.end(), part) == known.end()) {
            throw Error(ErrorKind::Usage, {.what = given.where + " has an unknown part of a recording",
                                           .where = given.where,
                                           .seen = "'" + part + "'",
                                           .expected = "some of " + joined(known) + ", separated by commas",
                                           .hint = suggestion(part, known, "")});
        }
    }
    return given.text;
}

int rank_of(const Given& given) {
    const auto rank = parse_value<int>(given.text);
    if (!rank || *rank < 0) {
        throw Error(ErrorKind::Usage, {.what = given.where + " needs the rank of a process in a parallel job",
                                       .where = "command line",
                                       .seen = "'" + given.text + "'",
                                       .expected = "0 or more"});
    }
    return *rank;
}

instrument::EventWindow window_of(const Given& events, const Given& schedule) {
    if (!events.text.empty() && !schedule.text.empty()) {
        throw Error(ErrorKind::Usage, {.what = "the events to profile are given twice",
                                       .where = "command line",
                                       .seen = events.where + " and " + schedule.where,
                                       .expected = "one of them"});
    }
    if (!events.text.empty()) {
        return instrument::EventWindow::from_range(events.text, events.where);
    }
    return schedule.text.empty() ? instrument::EventWindow{}
                                 : instrument::EventWindow::from_schedule(schedule.text, schedule.where);
}

/// CUPTI, the source of device activities, serves one user at a time. LibTorch's profiler gets it if the options
/// request that profiler and not the recorder's part "cuda".
void leave_cuda_to_torch(instrument::RecordingRequest& request) {
    if (("," + request.what + ",").find(",cuda,") != std::string::npos) {
        throw Error(
            ErrorKind::Usage,
            {.what = "only one of --torch-profiler and the part cuda of --record can record the device",
             .where = "command line",
             .seen = "--torch-profiler, and --record-what " + request.what,
             .expected = "one of them",
             .hint = "leave cuda out of --record-what, or use two runs"});
    }
    request.without = "cuda";
}

} // namespace

po::options_description profiling_options() {
    po::options_description options("Profiles (also by the variables SPNG_RECORD, SPNG_RECORD_WHAT, ... "
                                    "SPNG_PROFILE_EVENTS ...)");
    const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
    options.add_options() //
        ("record", text("FILE"),
         "record a profile to a SQLite file; in its name %p is the process, %h the host, %q{VAR} a "
         "variable") //
        ("record-what", text("A,B"),
         "parts to record, of " SPNG_RECORDER_PARTS
         " (ranges, node calls, memory and load of the process, CUDA, "
         "state of the GPUs); default: all that work on this machine")                              //
        ("record-rank", text("N"), "record only process N of a parallel job")                       //
        ("profile-events", text("A-B"), "profile only these events, counted from 0; also A and A-") //
        ("profile-schedule", text("S"),
         "profile events by a schedule, wait=W,warmup=U,active=A,repeat=R; this and --profile-events also "
         "control nsys -c cudaProfilerApi") //
        ("profile-control", text("WHERE"),
         "start without recording and listen at unix:PATH or, with SPNG_PROFILE_TOKEN, tcp:PORT of this "
         "machine: POST /start_profile, /stop_profile, GET /timings (Prometheus), /health") //
        ("memory-snapshot", text("FILE"),
         "write blocks and history of LibTorch's allocator on CUDA devices, for pytorch.org/memory_viz") //
        ("torch-profiler", text("FOLDER"),
         "write traces of LibTorch's profiler into this folder; not together with CUDA in --record") //
        ("nvtx-level", text("N"),
         "level of the ranges: 0 none, 1 nodes, 2 also steps (default), 3 also scheduling, 4 also operators");
    return options;
}

std::string memory_snapshot_file(const po::variables_map& values) {
    return given(values, "memory-snapshot", "SPNG_MEMORY_SNAPSHOT").text;
}

std::string torch_profiler_folder(const po::variables_map& values) {
    return given(values, "torch-profiler", "SPNG_TORCH_PROFILER").text;
}

std::optional<instrument::ControlAddress> control_address(const po::variables_map& values) {
    const Given where = given(values, "profile-control", "SPNG_PROFILE_CONTROL");
    if (values.count("profile-control") == 0 && where.text.empty()) {
        return std::nullopt;
    }
    return instrument::parse_control_address(where.text, where.where);
}

instrument::RecordingRequest recording_request(const po::variables_map& values) {
    instrument::RecordingRequest request;
    const Given file = given(values, "record", "SPNG_RECORD");
    request.file = file.text;
    request.where = file.where;
    if (values.count("record") > 0 && file.text.empty()) {
        throw Error(ErrorKind::Usage,
                    {.what = "--record needs a file name", .where = "command line", .seen = "''"});
    }
    if (const Given what = given(values, "record-what", "SPNG_RECORD_WHAT");
        !request.file.empty() || values.count("record-what") > 0) { // the variable alone has no effect
        request.what = parts_of(what);
    }
    if (!request.file.empty() && !torch_profiler_folder(values).empty()) {
        leave_cuda_to_torch(request);
    }
    if (const Given rank = given(values, "record-rank", "SPNG_RECORD_RANK"); !rank.text.empty()) {
        request.rank = rank_of(rank);
    }
    request.window = window_of(given(values, "profile-events", "SPNG_PROFILE_EVENTS"),
                               given(values, "profile-schedule", "SPNG_PROFILE_SCHEDULE"));
    return request;
}

} // namespace spng::app
