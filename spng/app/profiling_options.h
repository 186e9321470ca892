// SPDX-License-Identifier: Apache-2.0
#pragma once
// Options of the command line that record profiles. Each option has an environment variable, so that a job in a
// batch script can be profiled without a change of the script. The option overrides the variable.

#include "spng/instrument/control/control_address.h"
#include "spng/instrument/recording.h"

#include <boost/program_options.hpp>

#include <optional>
#include <string>

namespace spng::app {

/// Options: --record and related ones, --memory-snapshot, --torch-profiler, --nvtx-level.
boost::program_options::options_description profiling_options();

/// Return the file of --memory-snapshot; "" without it.
std::string memory_snapshot_file(const boost::program_options::variables_map& values);

/// Return the folder of --torch-profiler; "" without it.
std::string torch_profiler_folder(const boost::program_options::variables_map& values);

/// Return the address of --profile-control.
/// @throws Error(Usage)
std::optional<instrument::ControlAddress>
control_address(const boost::program_options::variables_map& values);

/// Return the request of --record and related options.
/// @throws Error(Usage)
instrument::RecordingRequest recording_request(const boost::program_options::variables_map& values);

} // namespace spng::app
