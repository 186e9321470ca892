#pragma once

#include "spng/io/archive/block_stream.h"

#include <memory>
#include <string>

namespace spng {

/// The content of a file: unpacked when its first bytes are those of gzip or bzip2, one level deep, else as
/// it is.
/// @param where  the file, named in errors
/// Throws Error(Input).
std::unique_ptr<BlockStream> content_stream(std::unique_ptr<FileStream> file, const std::string& where);

} // namespace spng
