// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/recording.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/core/error.h"
#include "spng/instrument/capture_range.h"
#include "spng/instrument/capture_switch.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/page_faults.h"
#include "spng/instrument/recorder_library.h"

#include "WireCellSpng/TorchnvTools.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace spng::instrument {
namespace {

constexpr const char* injection_variable = "NVTX_INJECTION64_PATH";

void say(const std::string& text) {
    std::fprintf(stderr, "wire-cell: %s\n", text.c_str());
}

/// Return the recorder.
/// @throws Error(Usage) if this build has none
const SpngRecorder& recorder_of_build(const std::string& where) {
    if (!SPNG_NVTX_IS_ON) {
        throw Error(ErrorKind::Usage, {.what = "this build cannot record a profile",
                                       .where = where,
                                       .seen = "a build without NVTX ranges",
                                       .expected = "a build with NVTX ranges",
                                       .hint = "./wcb configure --with-nvtx && ./wcb"});
    }
    const LoadedRecorder loaded = load_recorder();
    if (loaded.functions == nullptr) {
        throw Error(ErrorKind::Usage, {.what = "the recorder does not load",
                                       .where = where,
                                       .seen = loaded.problem,
                                       .expected = "libSpngRecorder.so beside libWireCellSpng.so",
                                       .hint = "install libsqlite3-dev, then ./wcb configure --with-nvtx && "
                                               "./wcb"});
    }
    return *loaded.functions;
}

/// Return the variable that shows another tool recording this process; "" without one.
std::string other_tool() {
    const char* const path = std::getenv(injection_variable);
    if (path != nullptr && *path != '\0' && !is_recorder(path)) {
        return std::string(injection_variable).append("=").append(path);
    }
    const char* const session = std::getenv("NSYS_PROFILING_SESSION_ID");
    return session == nullptr ? "" : std::string("NSYS_PROFILING_SESSION_ID=") + session;
}

struct Window {
    EventWindow events;
    std::mutex switching;
    int selected_in_flight = 0;
    std::uint64_t following = 0;           ///< index after the last selected event that began
    std::atomic<bool> is_selecting{false}; ///< opened by a selected event
    std::function<void(bool)> action;
    bool is_lack_reported = false;          ///< that no profiler records the selected events
    std::atomic<bool> switched_off{false};  ///< by a client or signal; only if all events are selected
    std::atomic<std::uint64_t> switches{0}; ///< counts twice per switch, so it is odd during one
};
Window window;

/// Ids by name of the nodes that were made during a recording.
struct Nodes {
    std::mutex mutex;
    std::map<std::string, std::int64_t> ids;
};
Nodes nodes;

} // namespace

namespace recording {

std::atomic<const SpngRecorder*> recorder_in_use{nullptr};

std::int64_t new_node(const std::string& type, const std::string& instance, const std::string& kind) {
    static std::atomic<std::int64_t> next{1};
    const std::int64_t id = next++;
    if (const SpngRecorder* const to = recorder()) {
        to->node(id, type.c_str(), instance.c_str(), kind.c_str(), -1);
        const std::lock_guard lock(nodes.mutex);
        nodes.ids.insert_or_assign(instance.empty() ? type : type + ":" + instance, id);
    }
    return id;
}

void edge(std::int64_t id, const std::string& tail, std::size_t tail_port, const std::string& head,
          std::size_t head_port) {
    if (const SpngRecorder* const to = recorder()) {
        const std::lock_guard lock(nodes.mutex);
        to->edge(id, nodes.ids[tail], static_cast<std::int64_t>(tail_port), nodes.ids[head],
                 static_cast<std::int64_t>(head_port));
    }
}

void message(std::int64_t edge, std::uint64_t event, std::int64_t enqueued, std::int64_t dequeued) {
    const SpngRecorder* const to = recorder();
    if (to != nullptr && window.events.capture(event) == Capture::active) {
        to->message(edge, static_cast<std::int64_t>(event), enqueued, dequeued);
    }
}

EventInFlight::EventInFlight(std::uint64_t event)
    : m_event(event),
      m_is_selected(!window.events.is_everything() && window.events.capture(event) == Capture::active),
      m_start(wall_nanoseconds()), m_switches(window.switches) {
    if (!m_is_selected) {
        return;
    }
    const std::lock_guard lock(window.switching);
    ++window.selected_in_flight;
    window.following = std::max(window.following, event + 1);
    if (window.is_selecting.exchange(true)) {
        return;
    }
    const SpngRecorder* const to = recorder();
    if (to != nullptr) {
        to->resume();
    }
    const bool is_profiler_told = start_device_profiler();
    if (window.action) {
        window.action(true);
    } else if (to == nullptr && !is_profiler_told && !std::exchange(window.is_lack_reported, true)) {
        say("events are selected, but there is no --record, and nsys -c cudaProfilerApi records nothing of "
            "a job without CUDA; use --record FILE, or nsys without -c, which records all events");
    }
}

EventInFlight::~EventInFlight() {
    note_page_faults_of_event();
    note_event();
    if (!m_is_selected) {
        return;
    }
    const std::lock_guard lock(window.switching);
    // The capture window stays open between two selected events. They may end in any order.
    const bool next_is_selected = window.events.capture(window.following) == Capture::active;
    if (--window.selected_in_flight == 0 && !next_is_selected) {
        if (window.action) {
            window.action(false);
        }
        stop_device_profiler();
        if (const SpngRecorder* const to = recorder()) {
            to->pause();
        }
        window.is_selecting = false;
    }
}

/// Write the row of the event, unless none of it was recorded.
void EventInFlight::note_event() const {
    const SpngRecorder* const to = recorder();
    const bool is_uncut = m_switches % 2 == 0 && window.switches == m_switches;
    const bool is_partly_recorded = !is_uncut || !window.switched_off;
    if (to != nullptr && is_partly_recorded && window.events.capture(m_event) == Capture::active) {
        to->event(static_cast<std::int64_t>(m_event), m_start, wall_nanoseconds(),
                  is_uncut && !m_has_failed ? 1 : 0);
    }
}

void on_window(std::function<void(bool)> action) {
    window.action = std::move(action);
}

EventOnThread::EventOnThread(std::uint64_t event) {
    const SpngRecorder* const to = recorder();
    if (to != nullptr && !window.events.is_everything()) {
        m_before = to->mute(window.events.capture(event) == Capture::active ? 0 : 1);
        m_changed = true;
    }
}

EventOnThread::~EventOnThread() {
    if (const SpngRecorder* const to = m_changed ? recorder() : nullptr) {
        to->mute(m_before);
    }
}

Switched switch_window(bool open) {
    const std::lock_guard lock(window.switching);
    const SpngRecorder* const to = recorder();
    if (to == nullptr) {
        return Switched::nothing_recorded;
    }
    if (!window.events.is_everything()) {
        return Switched::by_events;
    }
    if (window.switched_off.exchange(!open) == !open) {
        return Switched::already;
    }
    ++window.switches;
    if (open) {
        to->resume();
        start_device_profiler();
    } else {
        stop_device_profiler();
        to->pause();
    }
    ++window.switches;
    return Switched::done;
}

Switched toggle_window() {
    return switch_window(window.switched_off);
}

bool window_is_open() {
    return recorder() != nullptr &&
           (window.events.is_everything() ? !window.switched_off : window.is_selecting.load());
}

void say_what_is_left() noexcept {
    const SpngRecorder* const to = recorder();
    const char* const part = to == nullptr ? "" : to->part_file();
    if (*part == '\0') {
        return;
    }
    for (const char* text : {"wire-cell: the recording was not completed; wire-cell --recover-record ", part,
                             " completes the file with the data recorded so far\n"}) {
        [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text));
    }
}

} // namespace recording

Recording::Recording(const RecordingRequest& request) {
    window.events = request.window;
    window.following = 0;
    window.is_selecting = false;
    window.switched_off = false;
    window.is_lack_reported = !request.file.empty(); // then the reason is another one, and reported
    if (request.file.empty()) {
        return;
    }
    const SpngRecorder& functions = recorder_of_build(request.where);
    if (const std::string tool = other_tool(); !tool.empty()) {
        say("another tool records this run (" + tool + "), so " + request.where + " is ignored");
        return;
    }
    if (request.rank && request.rank != functions.rank()) {
        return;
    }
    setenv(injection_variable, recorder_path().c_str(), 1);
    const std::int64_t age = wall_nanoseconds() - process_start_nanoseconds();
    const SpngRecorderOptions options{
        request.file.c_str(),     request.what.c_str(), request.without.c_str(), 0, 0, 0, 0,
        request.overwrite ? 1 : 0};
    std::array<char, 4096> problem{};
    if (functions.start(&options, problem.data(), problem.size()) != 0) {
        throw Error(ErrorKind::Usage, {.what = "the recording cannot be made",
                                       .where = request.where + " " + request.file,
                                       .seen = problem.data(),
                                       .expected = "a file name in a writable folder; %p process, %h host, "
                                                   "%q{VARIABLE} environment, %% a percent sign"});
    }
    recording::recorder_in_use = &functions;
    m_active = true;
    note("process_age_ns", std::to_string(age)); // so that profiles tell the time before the recording
    if (!request.window.is_everything() || request.is_closed) {
        functions.pause();
        window.switched_off = request.window.is_everything();
    }
}

Recording::~Recording() {
    if (m_active) {
        const SpngRecorder* const functions = recording::recorder_in_use.exchange(nullptr);
        if (m_run_began) {
            functions->stop(nullptr, 0);
        } else {
            functions->discard();
        }
    }
}

void Recording::note(const std::string& key, const std::string& value) {
    if (m_active) {
        recording::recorder()->note(key.c_str(), value.c_str());
    }
}

void Recording::run_begins() {
    m_run_began = true;
    if (m_active && recording::recorder()->attachments() == 0) {
        const std::string text = "no range reaches the recording: a library used NVTX before it began";
        say(text);
        recording::recorder()->diagnose(2, text.c_str());
    }
}

std::string Recording::finish() {
    if (!m_active) {
        return "";
    }
    m_active = false;
    const SpngRecorder* const functions = recording::recorder_in_use.exchange(nullptr);
    const std::string name = functions->final_file();
    std::array<char, 4096> problem{};
    if (functions->stop(problem.data(), problem.size()) != 0) {
        throw Error(ErrorKind::Output, {.what = "the recording cannot be written",
                                        .where = name,
                                        .seen = problem.data(),
                                        .expected = "space for the file",
                                        .hint = "free space, then wire-cell --recover-record with the "
                                                ".part file"});
    }
    return name;
}

std::string recover_recording(const std::string& part, const std::string& target) {
    const SpngRecorder& functions = recorder_of_build("--recover-record");
    std::array<char, 4096> name{}, problem{};
    if (functions.recover(part.c_str(), target.c_str(), name.data(), name.size(), problem.data(),
                          problem.size()) != 0) {
        throw Error(ErrorKind::Input,
                    {.what = "the recording cannot be recovered",
                     .where = part,
                     .seen = problem.data(),
                     .expected = "the .part file of a run that was killed, with its .part-wal "
                                 "file beside it"});
    }
    return name.data();
}

} // namespace spng::instrument
