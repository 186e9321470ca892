// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rule for every output file: a regular file is replaced as a whole. Anything else that exists is written
// in place or rejected; it is never replaced or removed.
//
// Depends only on the standard library: the recorder, a separate library, compiles it too.

#include <filesystem>
#include <string>

namespace spng {

/// How to write an output to the path that the user named.
struct OutputPath {
    /// The path with symbolic links resolved, also to a target that does not exist yet. If
    /// in_place: the path as named.
    std::filesystem::path path;
    /// A character device, a pipe, or an open descriptor (/dev/stdout): append to it, without a temporary
    /// file.
    bool in_place = false;
    /// The kind of an object that cannot be written at all ("a folder"); empty otherwise.
    std::string problem;
};

/// Examine the path without changing anything. Never throws: a path that cannot be examined is returned as it
/// is, and creating the file then reports the reason.
OutputPath output_path(const std::filesystem::path& named);

/// Return a temporary name beside `target` for the time of writing: `.<name>.<process>-<random>.partial`. The
/// random part is needed because processes on other machines and in other containers may have the same id.
std::filesystem::path partial_path(const std::filesystem::path& target);

} // namespace spng
