#pragma once

#include <cstdint>
#include <optional>

namespace spng::recorder {

/// Resident memory of this process, in 1 us; nothing where /proc does not tell.
std::optional<std::int64_t> resident_bytes() noexcept;

} // namespace spng::recorder
