// SPDX-License-Identifier: Apache-2.0
#include "spng/app/run_files.h"

#include "spng/app/file_list.h"
#include "spng/app/print.h"
#include "spng/app/profiled_run.h"
#include "spng/app/progress.h"
#include "spng/app/run_parts.h"
#include "spng/app/signals.h"
#include "spng/core/error.h"
#include "spng/core/log/log_file.h"
#include "spng/core/printable.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/control/time_limit.h"
#include "spng/job/job_session.h"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace spng::app {
namespace {

/// The result of one run.
struct Answer {
    int status = 0;
    std::uint64_t events = 0;
    std::size_t skipped = 0;
    std::string kind, error;
    bool ends_program = false; ///< also if failed files are skipped
};

void print(const Answer& answer, const std::string& input, double seconds) {
    nlohmann::json line{
        {"input", input}, {"status", answer.status}, {"events", answer.events}, {"seconds", seconds}};
    if (answer.skipped > 0) {
        line["skipped"] = answer.skipped;
    }
    if (!answer.error.empty()) {
        line["error"] = answer.error;
    }
    if (!answer.kind.empty()) {
        line["kind"] = answer.kind;
    }
    print_result(json_text(line) + "\n");
}

Answer failed_run(const Error& error) {
    print_message(std::string(error.what()) + "\n");
    Answer answer;
    answer.status = error.exit_status();
    answer.kind = name_of(error.kind());
    answer.error = error.what();
    return answer;
}

Answer only_one_recorded() {
    Answer answer = failed_run(Error(ErrorKind::Usage, {.what = "a recording holds one run",
                                                        .where = "command line, --record and --files",
                                                        .seen = "a second file in the list",
                                                        .expected = "one file"}));
    answer.ends_program = true;
    return answer;
}

class FileRuns {
public:
    /// @param all  the values of all runs, as far as they are known
    FileRuns(const CommandLine& line, std::vector<PlaceholderValues> all, instrument::Recording& recording,
             Progress& progress)
        : m_line(line), m_all(std::move(all)), m_timing_file(line.timing_file), m_recording(recording),
          m_progress(progress) {}

    /// Return whether a run began.
    bool is_prepared() const { return m_is_prepared; }

    Answer run(const PlaceholderValues& values) {
        try {
            Answer answer;
            run(values, answer);
            return answer;
        } catch (...) {
            Answer answer = failed_run(current_error());
            answer.ends_program = m_rejects_list;
            return answer;
        }
    }

private:
    void run(const PlaceholderValues& values, Answer& answer) {
        m_line.timing_file = with_values(m_timing_file, values);
        if (m_is_prepared) {
            m_session->change_files(values);
            require_own_files();
            m_session->restart();
        } else {
            load(values);
        }
        const RunSummary summary = m_session->run([&](Job& job, const RunOptions& options) {
            return run_in_range(job, options, m_line.recording.window, nullptr);
        });
        if (!m_line.timing_file.empty()) {
            m_session->report(/*with_provenance=*/true).write_json(m_line.timing_file);
        }
        answer.status = outcome(summary);
        answer.events = summary.events_done;
        answer.skipped = summary.skipped.size();
        answer.ends_program = summary.device_error.has_value();
        if (summary.device_error) {
            answer.kind = name_of(summary.device_error->kind());
            answer.error = summary.device_error->what();
        } else if (answer.status == 1 && !summary.skipped.empty()) {
            answer.error = summary.skipped.front().reason;
        }
        if (m_recording.active()) {
            m_recording.note("events", std::to_string(summary.events_done));
        }
    }

    void load(const PlaceholderValues& values) {
        m_session.emplace(
            JobRequest{m_line.configuration, arguments_of_list(m_line), m_line.app, values, m_line.changes});
        require_own_files();
        if (!m_looked_at_all) {
            m_looked_at_all = true;
            require_separate_runs(values);
        }
        log::open_held_files();
        RunOptions options = run_options(m_line);
        options.counts = &m_progress.counts();
        m_session->prepare(std::move(options));
        m_is_prepared = true;
        m_session->describe(m_recording);
        m_recording.run_begins();
    }

    /// Compare the files of all runs before any is written.
    /// @param values  of this run
    /// @throws Error(Configuration) if a run writes a file that another one reads or writes; the list then ends
    void require_separate_runs(const PlaceholderValues& values) {
        struct Use {
            std::filesystem::path file;
            std::string input; ///< of the run
        };
        std::map<std::string, Use> read, written; // by identity
        const auto add = [](std::map<std::string, Use>& to, const std::filesystem::path& file,
                            const std::string& input) { to.emplace(identity_of(file), Use{file, input}); };
        for (const PlaceholderValues& each : m_all) {
            const std::string& input = each.at("input");
            add(read, input, input);
            try {
                m_session->change_files(each);
                for (const UsedFile& file : m_session->job().used_files(Job::MissingInputs::left_out)) {
                    add(file.is_written ? written : read, file.path, input);
                }
                if (!m_timing_file.empty() && m_timing_file != "-") {
                    add(written, with_values(m_timing_file, each), input);
                }
            } catch (const Error&) { // reported when it is the run's turn
            }
        }
        m_session->change_files(values);
        for (const auto& [identity, writer] : written) {
            const auto reader = read.find(identity);
            if (reader == read.end()) {
                continue;
            }
            m_rejects_list = true;
            throw Error(ErrorKind::Configuration,
                        {.what = "a run of the list would overwrite the input of another one",
                         .where = "--files " + m_line.file_list,
                         .seen = writer.file.string() + ", written for " + writer.input + " and read for " +
                                 reader->second.input,
                         .expected = "outputs that no run reads",
                         .hint = "write them into a folder of their own: -A output=signals/{name}.npz"});
        }
    }

    /// Return a text that is equal for all names and links of a file.
    static std::string identity_of(const std::filesystem::path& file) {
        struct stat found {};
        if (::stat(file.c_str(), &found) == 0) {
            return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
        }
        std::error_code problem;
        return std::filesystem::weakly_canonical(std::filesystem::absolute(file), problem).string();
    }

    /// @throws Error(Configuration) if a run writes a file of an earlier one; as require_separate_files()
    void require_own_files() {
        require_separate_files(m_line, m_session->configuration().file, m_session->job());
        std::set<std::filesystem::path> files;
        std::vector<UsedFile> used = m_session->job().used_files();
        const std::filesystem::path timing = m_line.timing_file;
        if (!timing.empty() && timing != "-" &&
            (!std::filesystem::exists(timing) || std::filesystem::is_regular_file(timing))) {
            used.push_back({"--timing", timing, true});
        }
        for (const UsedFile& file : used) {
            const auto path = std::filesystem::weakly_canonical(std::filesystem::absolute(file.path));
            if (!file.is_written || !files.insert(path).second || !m_written.contains(path)) {
                continue;
            }
            throw Error(ErrorKind::Configuration, {.what = "two runs of the list write one file",
                                                   .where = file.user,
                                                   .seen = file.path.string(),
                                                   .expected = "a file for each run",
                                                   .hint = "{name} in a file name is the name of the input: "
                                                           "-A output=signals/{name}.npz"});
        }
        m_written.merge(files);
    }

    CommandLine m_line;
    const std::vector<PlaceholderValues> m_all;
    const std::string m_timing_file; ///< with its placeholders
    instrument::Recording& m_recording;
    Progress& m_progress;
    std::optional<JobSession> m_session;
    bool m_is_prepared = false;
    bool m_looked_at_all = false;
    bool m_rejects_list = false;
    std::set<std::filesystem::path> m_written; ///< by all runs
};

/// Return the values of all lines; none for standard input and pipes, whose lines come one after the other.
std::vector<PlaceholderValues> all_values(const std::string& list) {
    std::vector<PlaceholderValues> all;
    if (list == "-" || !std::filesystem::is_regular_file(list)) {
        return all;
    }
    FileList lines(list);
    for (bool is_read = true; is_read;) {
        try {
            const auto values = lines.next(stop_signal());
            is_read = values.has_value();
            if (values) {
                all.push_back(*values);
            }
        } catch (const Error&) { // reported when it is the line's turn
        }
    }
    return all;
}

} // namespace

int run_files(const CommandLine& line, instrument::Recording& recording) {
    set_time_limit_handler(end_hanging_program);
    install_signal_handlers();
    FileList list(line.file_list);
    std::optional<FileRuns> runs; // ends after the display of progress
    Progress progress(Progress::style_for(line.progress));
    progress.files_begin(list.size());
    runs.emplace(line, all_values(line.file_list), recording, progress);
    std::uint64_t done = 0, failed = 0;
    int status = 0;
    while (stop_signal() == 0 && (status == 0 || line.skip_failed)) {
        instrument::Stopwatch running;
        Answer answer;
        std::string input;
        try {
            const auto values = list.next(stop_signal());
            if (!values) {
                break;
            }
            input = values->at("input");
            running = {}; // without the wait for the line
            answer = recording.active() && done + failed > 0 ? only_one_recorded() : runs->run(*values);
        } catch (const Error& error) { // of the line
            answer = failed_run(error);
        }
        print(answer, input, running.seconds());
        ++(answer.status == 0 ? done : failed);
        progress.file_ended(answer.status == 0);
        status = answer.status == 0 ? status : answer.status;
        if (answer.ends_program) {
            break;
        }
    }
    progress.finish();
    log::give_up_held_files(); // if no job was loaded
    if (const std::string file = runs->is_prepared() ? recording.finish() : ""; !file.empty()) {
        print_message("profile recorded in " + file + "\n");
    }
    print_message(std::to_string(done) + (done == 1 ? " file" : " files") + " processed" +
                  (failed > 0 ? ", " + std::to_string(failed) + " failed" : "") + "\n");
    if (stop_signal() != 0) {
        return 128 + stop_signal();
    }
    return done > 0 && line.skip_failed && status != 0 ? 1 : status;
}

} // namespace spng::app
