// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace spng::instrument {

/// Sentinel for "not measured".
inline constexpr std::int64_t not_measured = -1;

} // namespace spng::instrument
