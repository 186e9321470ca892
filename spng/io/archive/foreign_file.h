// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace spng {

/// A file of a kind that people take for one of ours.
struct ForeignFile {
    std::string kind; ///< "a Git LFS pointer, not the file itself"
    std::string hint;
};

/// Recognise a regular file by its first bytes: a Git LFS pointer, a web page, a checkpoint of torch.save, ONNX or HDF5;
/// nothing for all others.
std::optional<ForeignFile> foreign_file(const std::filesystem::path& file);

} // namespace spng
