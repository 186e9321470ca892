// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/block_stream.h"

#include <memory>
#include <string>

namespace spng {

/// Return the content of a file: unpacked, one level deep, if it begins as gzip or bzip2, else unchanged.
/// @param where  the file, named in errors
/// @throws Error(Input)
std::unique_ptr<BlockStream> content_stream(std::unique_ptr<FileStream> file, const std::string& where);

} // namespace spng
