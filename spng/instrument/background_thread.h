// SPDX-License-Identifier: Apache-2.0
#pragma once
// Threads that work beside the nodes, such as those that read and write files. Their CPU time is counted
// separately, since it belongs to no node call.

#include <cstdint>
#include <map>
#include <string>

namespace spng::instrument {

/// Marks and names the calling thread as a background thread. Construct and destroy on the same thread.
class BackgroundThread {
public:
    /// @param name  purpose of the thread, such as "read-ahead"; the system shows at most 15 characters.
    ///              Threads of one name are counted together.
    explicit BackgroundThread(const std::string& name);
    ~BackgroundThread();
    BackgroundThread(const BackgroundThread&) = delete;
    BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// CPU time of all marked threads, ended ones included [ns].
std::int64_t background_cpu_nanoseconds() noexcept;

/// CPU time of all marked threads by name [ns].
std::map<std::string, std::int64_t> background_cpu_by_name();

} // namespace spng::instrument
