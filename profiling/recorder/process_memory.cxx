// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/process_memory.h"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

namespace spng::recorder {

std::optional<std::int64_t> resident_bytes() noexcept {
    // Opened once. A forked child would read the values of its parent, but children do not record.
    static const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    static const std::int64_t page = sysconf(_SC_PAGESIZE);
    char text[128];
    const auto length = pread(file, text, sizeof text - 1, 0);
    if (length <= 0) {
        return std::nullopt;
    }
    text[length] = '\0';
    long long pages = 0;
    return std::sscanf(text, "%*s %lld", &pages) == 1 ? std::optional(pages * page) : std::nullopt;
}

} // namespace spng::recorder
