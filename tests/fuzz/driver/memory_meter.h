// SPDX-License-Identifier: Apache-2.0
#pragma once
// Count the bytes that the process has allocated: by the hooks of a sanitizer, or by functions of the C library that
// this program replaces.

#include <cstdint>

namespace spng::fuzz {

/// Start the count. Call it once, before the first measurement.
void start_memory_meter();
/// Return the bytes that are allocated now.
std::int64_t live_bytes();
/// Return the largest count of live bytes since reset_peak().
std::int64_t peak_bytes();
void reset_peak();

} // namespace spng::fuzz
