// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/session.h"

#include "profiling/recorder/file/finalize_file.h"
#include "profiling/recorder/manifest.h"
#include "profiling/recorder/recorder.h"
#include "profiling/recorder/signals_blocked.h"

#include <cerrno>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <pthread.h>
#include <string>
#include <system_error>
#include <unistd.h>

namespace spng::recorder {
namespace {

// 16384 ranges, about 1 MB. When the disk fills up, the file keeps the rows of the last commit.
constexpr std::size_t chunks_per_commit = 16;

/// Return the name of the .part file, which no file has: an ended process, also of another container, may have had the
/// id of this one.
/// @throws DatabaseError if the final file cannot be created under its name
std::string part_name(const std::string& final_name, bool overwrite) {
    (void)resolve_target(final_name, overwrite);
    const std::string unique = final_name + "." + std::to_string(getpid());
    std::string name = unique + ".part";
    std::error_code problem;
    for (int count = 2; std::filesystem::exists(name, problem); ++count) {
        name = unique + "-" + std::to_string(count) + ".part";
    }
    return name;
}

} // namespace

Session::Session(Recorder& recorder, const Options& options)
    : m_recorder(recorder), m_options(options), m_final_name(expand_name(options.pattern)),
      m_part_name(part_name(m_final_name, options.overwrite)), m_origin(now()),
      m_file(m_part_name, {m_origin, recorder.process(), &recorder.strings()}) {
    sem_init(&m_wake, 0, 0);
    recorder.reset(options, &m_wake);
    for (const auto& [key, value] : manifest_at_start(options, m_final_name)) {
        recorder.note(key, value);
    }
    recorder.note("stop_ns", "0");
    const std::lock_guard lock(m_writing);
    try {
        m_file.begin();
        write_notes();
        m_file.commit();
    } catch (...) { // nothing is recorded yet
        m_file.discard();
        sem_destroy(&m_wake);
        throw;
    }
    const SignalsBlocked blocked; // signal handlers of the program must not run on the writer thread
    m_writer = std::thread([this] { write_loop(); });
}

Session::~Session() {
    m_ending = true;
    sem_post(&m_wake);
    if (m_writer.joinable()) {
        m_writer.join();
    }
    sem_destroy(&m_wake);
}

void Session::start_sources() {
    for (const auto& type : source_types()) {
        if (m_options.parts.contains(type.part)) {
            auto source = type.make();
            const Readiness readiness = source->start(m_recorder);
            m_recorder.note("source." + type.part, readiness.ready ? "on" : "off: " + readiness.reason);
            if (readiness.ready) {
                m_sources.push_back(std::move(source));
            } else if (!readiness.hardware_absent) {
                m_recorder.diagnose(Severity::warning, type.part + " is not recorded: " + readiness.reason);
            }
        }
    }
}

void Session::pause() {
    for (const auto& source : m_sources) {
        source->pause(m_recorder);
    }
}

void Session::resume() {
    for (const auto& source : m_sources) {
        source->resume(m_recorder);
    }
}

void Session::call_begins(std::uint64_t call) noexcept {
    for (const auto& source : m_sources) {
        source->call_begins(call);
    }
}

void Session::call_ends(std::uint64_t call) noexcept {
    for (const auto& source : m_sources) {
        source->call_ends(call);
    }
}

void Session::request_end(int signal) noexcept {
    m_signal = signal;
    sem_post(&m_wake);
}

void Session::write_loop() {
    pthread_setname_np(pthread_self(), "spng-recorder");
    const auto pause = static_cast<std::int64_t>(m_options.spill_seconds * 1e9);
    while (!m_ending) {
        timespec until{};
        clock_gettime(CLOCK_MONOTONIC, &until);
        const std::int64_t ns = until.tv_nsec + pause;
        until.tv_sec += ns / 1'000'000'000;
        until.tv_nsec = ns % 1'000'000'000;
        while (sem_clockwait(&m_wake, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
        }
        if (const int signal = m_signal; signal != 0 && !m_ended) {
            // The interrupted thread may hold any lock. The writer takes only its usual locks here, and the
            // signal handler waits with a timeout.
            const std::lock_guard lock(m_writing);
            write_round();
            try {
                complete("signal " + std::to_string(signal));
            } catch (const DatabaseError&) {
                // The .part file is kept.
            }
            m_ended = true;
            return;
        }
        if (!m_ending) {
            for (const auto& source : m_sources) {
                source->flush(m_recorder);
            }
            const std::lock_guard lock(m_writing);
            write_round();
        }
    }
}

/// Write all available rows. The caller holds m_writing. After a write error nothing more is written, because
/// a profile with gaps would mislead; the rows before the error can be recovered.
void Session::write_round() {
    const std::int64_t cpu_begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    try {
        if (m_failure.empty()) {
            m_file.begin();
        }
        write_threads();
        std::apply([this]<class... Rows>(RowQueue<Rows>&...) { (write_queue<Rows>(), ...); },
                   m_recorder.m_queues);
        if (m_failure.empty()) {
            write_losses();
            m_recorder.note("stop_ns", std::to_string(now().ns - m_origin.ns));
            m_recorder.note("writer_cpu_ns", std::to_string(m_writer_cpu));
            write_notes();
            m_file.write_strings();
            m_file.commit();
        }
    } catch (const DatabaseError& error) {
        m_failure = error.what();
    }
    m_writer_cpu += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_begin;
}

template <class Row>
void Session::write_queue() {
    const auto rows = std::get<RowQueue<Row>>(m_recorder.m_queues).take();
    if (m_failure.empty()) {
        m_file.write(std::span<const Row>(rows));
    } else {
        m_unwritten += rows.size();
    }
}

/// Take all rows first and write them later, so that no thread of the program waits for the disk.
void Session::write_threads() {
    auto taken = m_recorder.take_threads();
    for (std::size_t index = 0; index < taken.chunks.size(); ++index) {
        ChunkPtr& chunk = taken.chunks[index];
        m_ranges += chunk->used;
        if (m_failure.empty()) {
            try {
                if (index > 0 && index % chunks_per_commit == 0) {
                    m_file.commit();
                    m_file.begin();
                }
                m_file.write(std::span<const NvtxRow>(chunk->rows.data(), chunk->used));
            } catch (const DatabaseError& error) {
                m_failure = error.what(); // continue, to return the other chunks to the pool
            }
        } else {
            m_unwritten += chunk->used;
        }
        m_recorder.m_pool.give_back(std::move(chunk));
    }
    m_losses.add(taken.losses);
    if (m_failure.empty()) {
        for (const auto& sql : taken.declared) {
            m_file.database().run(sql);
        }
        m_file.write(std::span<const NvtxRow>(taken.names));
        m_file.write_open(taken.open);
        for (const auto& [thread, name] : taken.thread_names) {
            m_file.thread_name(thread, name);
        }
    }
}

void Session::write_losses() {
    std::uint64_t in_queues = 0;
    std::apply([&](const auto&... queue) { ((in_queues += queue.dropped()), ...); }, m_recorder.m_queues);
    m_recorder.note("ranges", std::to_string(m_ranges));
    m_recorder.note("dropped.memory_limit", std::to_string(m_losses.no_memory + in_queues));
    m_recorder.note("dropped.row_limit", std::to_string(m_losses.over_limit));
    m_recorder.note("dropped.too_deep", std::to_string(m_losses.too_deep));
    m_recorder.note("unbalanced_pops", std::to_string(m_losses.unbalanced_pop));
    m_recorder.note("dropped.strings", std::to_string(m_recorder.strings().overflow()));
}

void Session::write_notes() {
    for (const auto& [key, value] : m_recorder.take_notes()) {
        m_file.note(key, value);
    }
}

/// Add diagnostics about lost rows to the recording.
void Session::diagnose_losses() {
    if (m_losses.rows() > 0) {
        m_recorder.diagnose(Severity::warning,
                            std::to_string(m_losses.rows()) + " ranges and marks were dropped");
    }
    if (m_losses.unbalanced_pop > 0) {
        m_recorder.diagnose(Severity::warning,
                            std::to_string(m_losses.unbalanced_pop) + " ranges ended without a begin");
    }
    if (m_recorder.strings().overflow() > 0) {
        m_recorder.diagnose(Severity::warning,
                            "too many distinct names: the names beyond the limit share one placeholder");
    }
}

void Session::end_writer() {
    for (const auto& source : m_sources) {
        source->stop(m_recorder);
    }
    m_ending = true;
    sem_post(&m_wake);
    m_writer.join();
}

void Session::discard() {
    end_writer();
    m_file.discard();
}

void Session::finish(const std::string& end) {
    end_writer();
    const SignalsBlocked blocked; // SIGXFSZ (file size limit) must not end the program
    const std::lock_guard lock(m_writing);
    write_round();
    diagnose_losses();
    write_round();
    complete(end);
}

void Session::complete(const std::string& end) {
    if (!m_failure.empty()) {
        throw DatabaseError(m_failure + "; the rows recorded before are in " + m_part_name);
    }
    m_file.begin();
    m_file.note("end", end);
    m_file.note("range_overhead_total_ns",
                std::to_string(std::llround(range_overhead().per_range_ns * static_cast<double>(m_ranges))));
    m_file.commit();
    m_file.close();
    finalize_file(m_part_name, m_final_name, false, m_options.overwrite);
}

} // namespace spng::recorder
