#pragma once
// Amounts of memory as people write them.

#include <cstdint>
#include <string>

namespace spng {

/// "4GB", "800 MB", "1.5GiB", "4096": a number with B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB
/// (powers of 1024), in any case; without a unit bytes. Empty is 0.
/// @param where  component and key, for the message
/// Throws Error(Configuration) for anything else, and for negative amounts.
std::int64_t bytes_from(const std::string& text, const std::string& where);

} // namespace spng
