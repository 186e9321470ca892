// SPDX-License-Identifier: Apache-2.0
#pragma once
// An output replaces only files of its own kind: a mistyped name must not cost somebody's work.

#include <filesystem>
#include <string>

namespace spng {

/// Kinds of files that a job writes. The recorder looks at the file of a recording itself.
enum class OutputKind { arrays, json, pickle, graph, log, recording };

/// Look at the beginning of the file that an output would replace. A name without a file, an empty file, a device and a pipe
/// are fine. Archives of arrays are recognised by the names of their members, <name>_<ident>.npy.
/// @param user  node or command-line flag, for the error
/// @throws Error(Output) if the file is of another kind
void require_own_kind(const std::filesystem::path& path, OutputKind kind, const std::string& user);

} // namespace spng
