// SPDX-License-Identifier: Apache-2.0
#pragma once
// Interface of row sources other than NVTX: memory samples, CUPTI, NVML, ... Each source is one .cxx file
// that registers the source. A session creates the sources that --record-what names.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spng::recorder {

class Recorder;

/// Result of starting a source.
struct Readiness {
    bool ready = true;
    std::string reason;           ///< why the source is not ready; reported as a diagnostic of the recording
    bool hardware_absent = false; ///< the machine has no such hardware; no warning is needed
};

/// Source of rows. It passes rows to Recorder::add() from any thread. No function may throw, because a failed
/// recording must not end the run. The thread that starts and stops the session calls start() and stop(); the
/// writer thread calls flush() about twice per second; any thread of the program calls the others.
class ActivitySource {
public:
    virtual ~ActivitySource() = default;

    /// Start to record. Report why if this machine does not support it.
    virtual Readiness start(Recorder& recorder) = 0;
    /// The capture window closed. A session starts with an open capture window.
    virtual void pause(Recorder&) {}
    /// The capture window opened.
    virtual void resume(Recorder&) {}
    /// A node call begins on this thread.
    virtual void call_begins(std::uint64_t /*call*/) noexcept {}
    /// A node call ends on this thread.
    virtual void call_ends(std::uint64_t /*call*/) noexcept {}
    /// Pass the available rows to the recorder.
    virtual void flush(Recorder&) {}
    /// Pass the remaining rows to the recorder and note the count of dropped rows in the manifest.
    virtual void stop(Recorder&) {}
};

/// Registered type of source.
struct SourceType {
    std::string part; ///< name in --record-what
    std::unique_ptr<ActivitySource> (*make)();
};

/// Return all registered types, in unspecified order.
std::vector<SourceType>& source_types();

/// Register a source type: `const SourceRegistration<ProcessSamples> registration("samples");` at namespace
/// scope.
template <class Source>
struct SourceRegistration {
    explicit SourceRegistration(const char* part) {
        source_types().push_back(
            {part, []() -> std::unique_ptr<ActivitySource> { return std::make_unique<Source>(); }});
    }
};

} // namespace spng::recorder
