// SPDX-License-Identifier: Apache-2.0
#pragma once
// A job from its configuration to its report. wire-cell runs it on files, Pipeline on frames in memory.

#include "spng/instrument/recording.h"
#include "spng/instrument/report/run_report.h"
#include "spng/job/job.h"
#include "spng/job/load_job.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace spng {

/// Loaded at construction; then prepare() and run() once each, in this order, on one thread. After that any
/// number of runs on other files: change_files(), restart(), then run().
class JobSession {
public:
    /// @throws as load_job()
    explicit JobSession(JobRequest request) : m_request(std::move(request)), m_loaded(load_job(m_request)) {}

    Job& job() { return *m_loaded.job; }
    const Job& job() const { return *m_loaded.job; }
    const Configuration& configuration() const { return m_loaded.configuration; }
    /// Whether placeholders have values.
    bool has_values() const { return !m_request.values.empty(); }
    /// See LoadedJob::anodes.
    const std::string& anodes() const { return m_loaded.anodes; }

    void prepare(RunOptions options);

    const RunOptions& options() const { return m_options; }

    /// Run the job.
    /// @param call  calls job.run(options), for example inside a range
    RunSummary run(const std::function<RunSummary(Job& job, const RunOptions& options)>& call);

    /// Begin a run with other values of the placeholders, which may be in names of files and nowhere else, and its report.
    /// @throws as Job::change_files(); call it again for the next run
    void change_files(PlaceholderValues values);
    /// Make the job ready for that run.
    /// @throws as Job::restart(); the next run begins with change_files()
    void restart();

    /// Make the report of the run, also while it runs. Thread-safe after prepare().
    /// @param with_provenance  add checksums of the configuration and of data files
    instrument::RunReport report(bool with_provenance) const;

    /// Write program, configuration and settings to the manifest of a recording that is active.
    void describe(instrument::Recording& recording) const;

private:
    /// Add the arguments of the job, their defaults and the changes of keys.
    void add_given(nlohmann::json& settings) const;

    JobRequest m_request;
    LoadedJob m_loaded;
    RunOptions m_options;
    instrument::ReportOrigin m_origin;              ///< of the report: the start of the program, or restart()
    std::atomic<std::int64_t> m_begin{0}, m_end{0}; ///< of the run, wall_nanoseconds(); 0: not yet
    std::atomic<std::uint64_t> m_completed_events{0}; ///< valid if m_end is not 0
};

} // namespace spng
