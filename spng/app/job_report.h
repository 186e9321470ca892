// SPDX-License-Identifier: Apache-2.0
#pragma once
// Descriptions of a run: the report of the timing table, and the manifest of a recording.

#include "spng/app/command_line.h"
#include "spng/app/configuration.h"
#include "spng/app/job_reservations.h"
#include "spng/engine/job.h"
#include "spng/instrument/recording.h"
#include "spng/instrument/report/run_report.h"

#include <cstddef>

namespace spng::app {

/// Return the width of the timing table: that of the terminal, 100 characters in a file, unlimited with --table wide.
std::size_t report_columns(const CommandLine& line);

/// Make the report of a finished run. With --timing it includes checksums of the configuration and data files.
instrument::RunReport run_report(const CommandLine& line, const Configuration& configuration, const Job& job,
                                 const RunOptions& options, const JobReservations& reservations,
                                 double wall_seconds);

/// Write program, configuration and settings to the manifest of a recording that is active.
void describe_job(instrument::Recording& recording, const CommandLine& line,
                  const Configuration& configuration, const Job& job, const RunOptions& options);

} // namespace spng::app
