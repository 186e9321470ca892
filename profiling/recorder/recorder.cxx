// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/recorder.h"

#include "profiling/recorder/process_memory.h"
#include "profiling/recorder/session.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <pthread.h>
#include <stdexcept>
#include <string_view>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace spng::recorder {
namespace {

thread_local ThreadBuffer* t_buffer = nullptr;
pthread_key_t thread_end_key;

std::uint32_t system_thread_id() {
    return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

std::string system_thread_name() {
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    return name;
}

/// Row that names a thread, domain or category.
NvtxRow naming_row(NvtxKind kind, StringId name, std::uint32_t thread) {
    NvtxRow row;
    row.kind = kind;
    row.start = now();
    row.has_end = false;
    row.name = name;
    row.thread = thread;
    return row;
}

void copy_name(char* to, std::size_t size, const std::string& name) {
    std::snprintf(to, size, "%s", name.c_str());
}

} // namespace

Recorder& Recorder::instance() {
    static Recorder* const recorder = new Recorder;
    return *recorder;
}

Recorder::Recorder() : m_process(static_cast<std::uint32_t>(getpid())) {
    pthread_key_create(&thread_end_key, &Recorder::on_thread_exit);
    pthread_atfork(&Recorder::before_fork, &Recorder::after_fork_in_parent, &Recorder::after_fork_in_child);
}

void Recorder::start(const Options& options) {
    const std::lock_guard lock(m_session_mutex);
    if (m_session != nullptr) {
        throw std::logic_error("a recording is already running");
    }
    auto session = std::make_unique<Session>(*this, options);
    copy_name(m_part_file, sizeof m_part_file, session->part_file());
    copy_name(m_final_file, sizeof m_final_file, session->final_file());
    m_active = true;
    session->start_sources();
    m_session = session.release();
    m_open = true;
}

void Recorder::stop(const std::string& end) {
    end_session([&end](Session& session) { session.finish(end); });
}

void Recorder::discard() {
    end_session([](Session& session) { session.discard(); });
}

/// Other threads may still use the session. Ended sessions are never deleted (a few kilobytes each), so that
/// calls need no lock.
template <class End>
void Recorder::end_session(End end) {
    const std::lock_guard lock(m_session_mutex);
    Session* const session = m_session.exchange(nullptr);
    if (session == nullptr) {
        return;
    }
    m_open = false;
    try {
        end(*session);
    } catch (...) {
        m_active = false;
        throw;
    }
    m_active = false;
}

void Recorder::reset(const Options& options, sem_t* fill_signal) {
    m_pool.set_limit(options.memory_limit, fill_signal);
    m_rows_left = options.row_limit;
    m_options = options;
    m_ranges_wanted = options.parts.count("nvtx") > 0;
    m_calls_wanted = options.parts.count("calls") > 0;
    std::apply([&](auto&... queue) { (queue.reset(options.memory_limit), ...); }, m_queues);
    m_async.clear();
    const std::lock_guard lock(m_mutex);
    m_origin = now();
    m_names_taken = 0;
    m_notes.clear();
    m_calls_of_node.clear();
    for (const auto& thread : m_threads) {
        thread->reset();
    }
}

Recorder::Taken Recorder::take_threads() {
    Taken all;
    const std::lock_guard lock(m_mutex);
    for (auto& thread : m_threads) {
        auto taken = thread->take();
        std::move(taken.chunks.begin(), taken.chunks.end(), std::back_inserter(all.chunks));
        all.open.insert(all.open.end(), taken.open.begin(), taken.open.end());
        all.losses.add(taken.losses);
        if (taken.thread_ended) {
            m_thread_names[thread->thread()].by_program = false; // the system may reuse the id
            thread.reset();
        }
    }
    std::erase(m_threads, nullptr);
    const auto async = m_async.open();
    all.open.insert(all.open.end(), async.begin(), async.end());
    for (; m_names_taken < m_names.size(); ++m_names_taken) {
        all.names.push_back(m_names[m_names_taken]);
        all.names.back().start.ns = std::max(all.names.back().start.ns, m_origin.ns);
    }
    for (const auto& [thread, name] : m_thread_names) {
        all.thread_names.emplace(thread, name.name);
    }
    all.declared = std::exchange(m_declared, {});
    return all;
}

std::map<std::string, std::string> Recorder::take_notes() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_notes, {});
}

void Recorder::pause() {
    const std::lock_guard lock(m_session_mutex);
    if (m_session != nullptr && m_open.exchange(false)) {
        m_session.load()->pause();
    }
}

void Recorder::resume() {
    const std::lock_guard lock(m_session_mutex);
    if (m_session != nullptr && !m_open.exchange(true)) {
        m_session.load()->resume();
    }
}

void Recorder::note(const std::string& key, const std::string& value) {
    const std::lock_guard lock(m_mutex);
    m_notes[key] = value;
}

void Recorder::declare_table(const std::string& sql) {
    const std::lock_guard lock(m_mutex);
    m_declared.push_back(sql);
}

void Recorder::diagnose(Severity severity, const std::string& text) {
    add(DiagnosticRow{now(), severity, intern(text)});
}

ThreadBuffer& Recorder::thread() {
    if (t_buffer != nullptr) {
        return *t_buffer;
    }
    const std::uint32_t id = system_thread_id();
    auto buffer = std::make_unique<ThreadBuffer>(id, m_pool, m_rows_left);
    t_buffer = buffer.get();
    pthread_setspecific(thread_end_key, t_buffer);
    if (!fits(id) || !fits(m_process)) {
        diagnose(Severity::warning, "process " + std::to_string(m_process) + ", thread " +
                                        std::to_string(id) +
                                        ": the id has more than 24 bits and is cut to its low 24 bits");
    }
    const StringId name = intern(system_thread_name());
    const std::lock_guard lock(m_mutex);
    auto& known = m_thread_names[id];
    if (!known.by_program) {
        known.name = name;
    }
    m_threads.push_back(std::move(buffer));
    return *t_buffer;
}

/// Called on the ending thread. Thread-local objects that use NVTX later get a new buffer.
void Recorder::on_thread_exit(void* buffer) {
    t_buffer = nullptr;
    static_cast<ThreadBuffer*>(buffer)->thread_ended();
}

void Recorder::name_thread(std::uint32_t thread, const std::string& name) {
    const StringId id = intern(name);
    const NvtxRow row = naming_row(NvtxKind::thread_name, id, thread);
    const std::lock_guard lock(m_mutex);
    m_thread_names[thread] = {id, true};
    m_names.push_back(row);
}

std::uint16_t Recorder::domain(const std::string& name) {
    const StringId id = intern(name);
    const std::lock_guard lock(m_mutex);
    const auto [entry, is_new] = m_domains.emplace(name, 0);
    if (is_new) {
        // Domains beyond 65535 share the last id.
        entry->second = static_cast<std::uint16_t>(std::min<std::size_t>(m_domains.size(), UINT16_MAX));
        m_names.push_back(naming_row(NvtxKind::domain_create, id, system_thread_id()));
        m_names.back().domain = entry->second;
    }
    return entry->second;
}

void Recorder::name_category(std::uint16_t domain, std::uint32_t category, const std::string& name) {
    NvtxRow row = naming_row(NvtxKind::category, intern(name), system_thread_id());
    row.domain = domain;
    row.category = category;
    const std::lock_guard lock(m_mutex);
    const bool known = std::any_of(m_names.begin(), m_names.end(), [&](const NvtxRow& other) {
        return other.kind == row.kind && other.domain == domain && other.category == category &&
               other.name.index == row.name.index;
    });
    if (!known) {
        m_names.push_back(row);
    }
}

std::uint64_t Recorder::call_begins() {
    if (!is_open() || !m_calls_wanted || thread().muted()) {
        return 0;
    }
    const std::uint64_t call = m_next_call++;
    if (Session* const session = m_session; session != nullptr) {
        session->call_begins(call);
    }
    return call;
}

void Recorder::call_ends(CallRow row, bool keep) {
    if (Session* const session = m_session; session != nullptr) {
        session->call_ends(static_cast<std::uint64_t>(row.id));
    }
    if (!keep) {
        add(UncountedCallRow{row.id, row.node});
        return;
    }
    row.thread = thread().thread();
    row.resident = resident_bytes();
    {
        const std::lock_guard lock(m_mutex);
        row.sequence = m_calls_of_node[row.node]++;
    }
    add(row);
}

void Recorder::stop_in_signal_handler(int signal, int seconds) noexcept {
    Session* const session = m_session;
    if (session == nullptr || m_process != static_cast<std::uint32_t>(getpid())) {
        return;
    }
    m_open = false;
    session->request_end(signal);
    for (int tenths = 0; tenths < 10 * seconds && !session->ended_after_signal(); ++tenths) {
        const timespec tenth{0, 100'000'000};
        nanosleep(&tenth, nullptr);
    }
    m_active = false;
}

void Recorder::before_fork() {
    Recorder& recorder = instance();
    recorder.m_session_mutex.lock();
    if (recorder.m_session != nullptr) {
        recorder.m_session.load()->writing().lock();
    }
    recorder.m_mutex.lock();
    recorder.m_strings.lock();
}

void Recorder::after_fork_in_parent() {
    Recorder& recorder = instance();
    recorder.m_strings.unlock();
    recorder.m_mutex.unlock();
    if (recorder.m_session != nullptr) {
        recorder.m_session.load()->writing().unlock();
    }
    recorder.m_session_mutex.unlock();
}

/// The child must not write the parent's file and has no writer thread. It drops the session without running
/// destructors and records nothing.
void Recorder::after_fork_in_child() {
    Recorder& recorder = instance();
    recorder.m_active = false;
    recorder.m_open = false;
    recorder.m_session = nullptr;
    for (auto& thread : recorder.m_threads) {
        static_cast<void>(thread.release()); // another thread may hold their locks
    }
    recorder.m_threads.clear();
    recorder.m_thread_names.clear();
    t_buffer = nullptr;
    recorder.m_process = static_cast<std::uint32_t>(getpid());
    recorder.m_strings.unlock();
    recorder.m_mutex.unlock();
    recorder.m_session_mutex.unlock();
}

} // namespace spng::recorder
