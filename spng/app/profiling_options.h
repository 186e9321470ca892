#pragma once
// The part of the command line about recording profiles. Each option has an environment variable of the same
// meaning, so that a job behind a batch script can be profiled without a change of it; the option wins.

#include "spng/instrument/control/control_address.h"
#include "spng/instrument/recording.h"

#include <boost/program_options.hpp>

#include <optional>
#include <string>

namespace spng::app {

/// --record and its relatives, --trace-states, --nvtx-level.
boost::program_options::options_description profiling_options();

/// File of --trace-states, "" for none.
std::string states_file(const boost::program_options::variables_map& values);

/// Folder of --torch-profiler, "" for none.
std::string torch_profiler_folder(const boost::program_options::variables_map& values);

/// Where the job is to be controlled, with --profile-control. Throws Error(Usage).
std::optional<instrument::ControlAddress>
control_address(const boost::program_options::variables_map& values);

/// What was asked for. Throws Error(Usage).
instrument::RecordingRequest recording_request(const boost::program_options::variables_map& values);

} // namespace spng::app
