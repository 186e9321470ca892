// SPDX-License-Identifier: Apache-2.0
#include "spng/core/files/output_path.h"

#include <cerrno>
#include <random>
#include <sstream>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

namespace spng {
namespace {

namespace fs = std::filesystem;

constexpr int max_links = 40; // the kernel's own limit

/// Return true for a link below /proc, which leads to an open file and not to a name: /dev/stdout is
/// /proc/self/fd/1.
bool leads_to_open_file(const fs::path& link) {
    std::error_code problem;
    const fs::path folder = fs::canonical(link.has_parent_path() ? link.parent_path() : ".", problem);
    return !problem && folder.string().starts_with("/proc/");
}

std::string kind_that_cannot_be_written(mode_t mode) {
    if (S_ISDIR(mode)) {
        return "a folder";
    }
    if (S_ISBLK(mode)) {
        return "a block device";
    }
    return S_ISSOCK(mode) ? "a socket" : "";
}

} // namespace

OutputPath output_path(const fs::path& named) {
    OutputPath result{.path = named, .in_place = false, .problem = {}};
    struct stat found {};
    if (::stat(named.c_str(), &found) == 0) {
        result.problem = kind_that_cannot_be_written(found.st_mode);
        result.in_place = S_ISCHR(found.st_mode) || S_ISFIFO(found.st_mode);
        if (!result.problem.empty() || result.in_place) {
            return result;
        }
    } else if (errno == ELOOP) {
        result.problem = "a loop of symbolic links";
        return result;
    }
    for (int links = 0; links < max_links; ++links) {
        struct stat link {};
        if (::lstat(result.path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) {
            break;
        }
        std::error_code problem;
        const fs::path target = fs::read_symlink(result.path, problem);
        if (problem) {
            break;
        }
        if (leads_to_open_file(result.path)) {
            return {.path = named, .in_place = true, .problem = {}};
        }
        result.path = result.path.parent_path() / target; // an absolute target replaces the folder
    }
    return result;
}

fs::path partial_path(const fs::path& target) {
    std::ostringstream unique;
    unique << ::getpid() << '-' << std::hex << std::random_device()();
    return target.parent_path() / ("." + target.filename().string() + "." + unique.str() + ".partial");
}

} // namespace spng
