// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace spng::recorder {

/// Return the resident memory of this process [bytes], or nothing if /proc/self/statm cannot be read. A call
/// takes 1 us.
std::optional<std::int64_t> resident_bytes() noexcept;

} // namespace spng::recorder
