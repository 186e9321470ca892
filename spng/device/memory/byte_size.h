// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parse amounts of memory.

#include <cstdint>
#include <string>

namespace spng {

/// Return the bytes of a text such as "4GB", "800 MB", "1.5GiB" or "4096". Units are B, kB, MB, GB, TB
/// (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024), in upper or lower case; without a unit, bytes.
/// Empty is 0.
/// @param where  component and key, for the message
/// @throws Error(Configuration) for any other text, and for negative amounts
std::int64_t bytes_from(const std::string& text, const std::string& where);

} // namespace spng
