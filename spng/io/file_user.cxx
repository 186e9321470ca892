// SPDX-License-Identifier: Apache-2.0
#include "spng/io/file_user.h"

#include "spng/core/error.h"
#include "spng/core/files/output_path.h"
#include "spng/core/files/temporary_files.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace spng {
namespace {

namespace fs = std::filesystem;

/// Return true if two names are, or would become, one file.
bool is_same(const fs::path& left, const fs::path& right) {
    std::error_code problem;
    if (fs::exists(left, problem) && fs::exists(right, problem)) {
        return fs::is_regular_file(left, problem) && fs::equivalent(left, right, problem) && !problem;
    }
    // Ignore names that cannot be resolved (circular links, a folder without permission): opening them
    // reports the reason.
    const fs::path resolved = fs::weakly_canonical(fs::absolute(output_path(left).path), problem);
    return !problem && resolved == fs::weakly_canonical(fs::absolute(output_path(right).path), problem) &&
           !problem;
}

void require_readable(const fs::path& path) {
    if (::access(path.c_str(), R_OK) != 0) {
        throw Error(ErrorKind::Input, {.what = "the input cannot be read",
                                       .where = path.string(),
                                       .seen = std::strerror(errno),
                                       .expected = "a readable file"});
    }
}

} // namespace

void require_writable(const fs::path& path) {
    const TemporaryFile checked(path);
    const fs::path object = checked.in_place() ? checked.path() : checked.path().parent_path();
    if (::access(object.c_str(), checked.in_place() ? W_OK : W_OK | X_OK) != 0) {
        throw Error(ErrorKind::Output,
                    {.what = "an output cannot be written",
                     .where = path.string(),
                     .seen = object.string() + ": " + std::strerror(errno),
                     .expected = checked.in_place() ? "a device or a pipe with permission to write"
                                                    : "a folder with permission to write"});
    }
}

void FileUser::check_files() const {
    for (const auto& file : files_read()) {
        require_readable(file);
    }
    check_outputs();
}

void FileUser::check_outputs() const {
    for (const auto& file : files_written()) {
        require_writable(file);
    }
}

void require_separate(const std::vector<UsedFile>& files) {
    for (const UsedFile& written : files) {
        for (const UsedFile& other : files) {
            if (!written.is_written || &written == &other || !is_same(written.path, other.path)) {
                continue;
            }
            throw Error(ErrorKind::Configuration,
                        {.what = other.is_written ? "two outputs of a job are one file"
                                                  : "an output would overwrite an input",
                         .where = written.user + " and " + other.user,
                         .seen = written.path.string() + " and " + other.path.string(),
                         .expected = "a separate file for each output",
                         .hint = "choose another name for one of them"});
        }
    }
}

} // namespace spng
