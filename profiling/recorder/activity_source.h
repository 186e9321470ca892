#pragma once
// Where rows come from besides NVTX: memory samples, CUPTI, NVML, ... A source lives in one .cxx of its own,
// registers itself there, and is made for a session that asks for its name (--record-what).

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spng::recorder {

class Recorder;

/// Whether a source works on this machine and, if not, why; the reason becomes a diagnostic of the recording.
struct Readiness {
    bool ready = true;
    std::string reason;
    bool expected = false; ///< the machine has no such hardware: nothing to warn of
};

/// Rows are handed over with Recorder::add(), from any thread. No function may throw: a profile is worth less
/// than the run. start() and stop() are called on the thread that starts and stops the session; flush() on
/// the session's writer thread, about twice per second; the others wherever the program is.
class ActivitySource {
public:
    virtual ~ActivitySource() = default;

    virtual Readiness start(Recorder& recorder) = 0;
    /// The window of what is recorded was closed or opened; a session starts with an open one.
    virtual void pause(Recorder&) {}
    virtual void resume(Recorder&) {}
    /// A node call begins or ends on this thread.
    virtual void call_begins(std::uint64_t /*call*/) noexcept {}
    virtual void call_ends(std::uint64_t /*call*/) noexcept {}
    /// Hand over what has come in.
    virtual void flush(Recorder&) {}
    /// Hand over the rest, and say in the manifest (Recorder::note) what was dropped.
    virtual void stop(Recorder&) {}
};

using MakeSource = std::unique_ptr<ActivitySource> (*)();

/// A source that may be asked for. `part` is its name in --record-what.
struct SourceType {
    std::string part;
    bool by_default;
    MakeSource make;
};

/// All there are, in no particular order.
std::vector<SourceType>& source_types();

/// `const SourceRegistration registration{{"samples", true, &make}};` at namespace scope.
struct SourceRegistration {
    explicit SourceRegistration(SourceType type) { source_types().push_back(std::move(type)); }
};

} // namespace spng::recorder
