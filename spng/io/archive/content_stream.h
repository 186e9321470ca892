// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/block_stream.h"

#include <memory>
#include <string>

namespace spng {

/// Return the content of a file: unpacked, one level deep, if it begins as gzip, bzip2, xz or zstd, else unchanged.
/// @param where  the file, named in errors
/// @throws Error(Input)
std::shared_ptr<BlockStream> content_stream(std::shared_ptr<FileStream> file, const std::string& where);

} // namespace spng
