// SPDX-License-Identifier: Apache-2.0
#pragma once
// The program's side of a profile recording (--record). It loads the recorder (profiling/recorder/recorder_abi.h),
// sends it nodes, edges, calls, messages and the settings of the run, which NVTX does not carry, and opens and
// closes the capture window for the selected events.
//
// Without a recording each function costs a load and a branch.

#include "spng/instrument/event_window.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

struct SpngRecorder;

namespace spng::instrument {

struct RecordingRequest {
    std::string file{};        ///< pattern of the name; empty: record nothing
    std::string what{};        ///< parts, separated by commas; empty: the default
    std::string without{};     ///< parts that are left out when `what` is empty
    std::optional<int> rank{}; ///< only in this process of a parallel job
    EventWindow window;
    bool is_closed = false;         ///< record nothing before switch_window(true)
    bool overwrite = false;         ///< replace a file that is no recording
    std::string where = "--record"; ///< the option, for errors
};

/// One recording, from before the first NVTX call to the end of the run.
class Recording {
public:
    /// Begin a recording if `request` names a file. Sets NVTX_INJECTION64_PATH, so construct it before the first
    /// annotation. If another tool is attached (nsys, ncu: the variable is already set), or for another rank, it
    /// prints a message on stderr and records nothing.
    /// @throws Error(Usage) in a build without NVTX or without the recorder, for invalid names and parts, and for
    /// a file that cannot be created
    explicit Recording(const RecordingRequest& request);
    /// Remove the file if neither run_begins() nor finish() was called.
    ~Recording();
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    bool active() const { return m_active; }
    /// Write a key of the manifest.
    void note(const std::string& key, const std::string& value);
    /// Begin the run: keep the file from now on, however the run ends. Print a message on stderr if annotations do
    /// not reach the recorder.
    void run_begins();
    /// Finalize the file.
    /// @return its name; "" without a recording
    /// @throws Error(Output)
    std::string finish();

private:
    bool m_active = false;
    bool m_run_began = false;
};

/// Finalize the .part file of a killed run.
/// @param target  name of the final file; "": the intended one
/// @return the name of the final file
/// @throws Error(Usage) without the recorder, Error(Input) if the file is not a recording
std::string recover_recording(const std::string& part, const std::string& target);

namespace recording {

extern std::atomic<const SpngRecorder*> recorder_in_use;

/// Null while nothing is recorded.
inline const SpngRecorder* recorder() noexcept {
    return recorder_in_use.load(std::memory_order_relaxed);
}

/// Return a new id for a node, or for a service that is metered like one. Ids are unique in the process. During a
/// recording also write the node's row.
std::int64_t new_node(const std::string& type, const std::string& instance, const std::string& kind);
/// Write an edge between nodes that have ids; tail and head are their names, "Type:instance".
void edge(std::int64_t id, const std::string& tail, std::size_t tail_port, const std::string& head,
          std::size_t head_port);
void message(std::int64_t edge, std::uint64_t event, std::int64_t enqueued, std::int64_t dequeued);

/// Scope of an event in flight. The capture window opens before the first selected event and closes after the last.
/// The destructor samples the page faults of the event (page_faults.h), and writes whether the whole event was recorded.
class EventInFlight {
public:
    explicit EventInFlight(std::uint64_t event);
    ~EventInFlight();
    EventInFlight(const EventInFlight&) = delete;
    EventInFlight& operator=(const EventInFlight&) = delete;

    /// Note that the event failed, so that it does not count as whole.
    void set_failed() { m_has_failed = true; }

private:
    void note_event() const;

    const std::uint64_t m_event;
    const bool m_is_selected;
    bool m_has_failed = false;
    const std::int64_t m_start;     ///< [ns]
    const std::uint64_t m_switches; ///< of the capture window, at the start
};

/// Attribute the calling thread's work to an event during this object's life, and omit it if the event is not
/// selected. Several events may be in flight on different threads.
class EventOnThread {
public:
    explicit EventOnThread(std::uint64_t event);
    ~EventOnThread();
    EventOnThread(const EventOnThread&) = delete;
    EventOnThread& operator=(const EventOnThread&) = delete;

private:
    bool m_changed = false;
    int m_before = 0;
};

/// Set the action for the capture window's opening (true) and closing (false); an empty function removes it. It is
/// not called if all events are selected. Do not change it during a run.
void on_window(std::function<void(bool)> action);

/// Print on stderr how to recover the recording, for a signal handler that ends the program. Async-signal-safe.
void say_what_is_left() noexcept;

} // namespace recording
} // namespace spng::instrument
