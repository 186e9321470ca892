#pragma once
// Threads that work beside the nodes, such as those that read and write files ahead and behind. Their
// processor time is kept apart: it belongs to no node call, although it passes while nodes run.

#include <cstdint>
#include <map>
#include <string>

namespace spng::instrument {

/// Marks the calling thread as such from its construction to its destruction, on the same thread. Also names
/// the thread, for debuggers and profiles.
class BackgroundThread {
public:
    /// @param name  what the thread does, such as "read-ahead"; the system shows at most 15 characters.
    ///              Threads of one name are counted together.
    explicit BackgroundThread(const std::string& name);
    ~BackgroundThread();
    BackgroundThread(const BackgroundThread&) = delete;
    BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// Processor time of all marked threads, also of those that have ended, in nanoseconds.
std::int64_t background_cpu_nanoseconds() noexcept;

/// The same by name.
std::map<std::string, std::int64_t> background_cpu_by_name();

} // namespace spng::instrument
