// SPDX-License-Identifier: Apache-2.0
#pragma once
// Compressed bodies of HTTP: gzip, and deflate, which is the format of zlib.

#include "spng/kserve/json_codec.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace spng {

enum class Coding { none, gzip, deflate };

/// Return "gzip", "deflate"; empty for none.
const char* to_string(Coding coding);

/// Return the coding of a header Content-Encoding; nothing for others and for several.
std::optional<Coding> coding_named(std::string_view content_encoding);

/// Choose a coding that a header Accept-Encoding allows.
Coding accepted_coding(std::string_view accept_encoding);

/// Return the size of compressed bytes without keeping their content; nothing if it is beyond a limit.
/// @throws Error(Input) for damaged bytes
std::optional<std::size_t> unpacked_size(Coding coding, std::string_view packed, std::size_t limit);

/// Unpack into memory of unpacked_size().
void unpack(Coding coding, std::string_view packed, char* to, std::size_t size);

/// Compress a body as a whole, quickly.
std::string packed(Coding coding, const kserve::Body& body);

} // namespace spng
