#pragma once
// The rule for every file that the programs write: a regular file is replaced as a whole, anything else that
// exists is written in place or rejected, and never replaced or removed.
//
// Depends only on the standard library: the recorder, a library of its own, compiles it too.

#include <filesystem>
#include <string>

namespace spng {

/// How an output reaches the path that the user named.
struct OutputPath {
    /// Symbolic links followed, also to a target that does not exist yet; as named when written in place.
    std::filesystem::path path;
    /// A character device, a pipe, or an open descriptor (/dev/stdout): append to it, without a temporary
    /// file.
    bool in_place = false;
    /// The kind of the object when it cannot be written at all ("a folder"); empty when it can.
    std::string problem;
};

/// Look at the path without changing anything. Never throws: a path that cannot be examined is returned as it
/// is, and creating the file reports the reason.
OutputPath output_path(const std::filesystem::path& named);

/// A name beside `target` to write under until the file is complete: `.<name>.<process>-<random>.partial`,
/// since processes of other machines and containers may have the same number.
std::filesystem::path partial_path(const std::filesystem::path& target);

} // namespace spng
