// SPDX-License-Identifier: Apache-2.0
#pragma once
// Position of the levels beside an ROI (rebaseline.h). Plain C++ without any header, since the kernel includes it.

namespace spng {

constexpr int level_ticks = 8;    ///< of the mean that is the level
constexpr int level_distance = 6; ///< largest distance of its centre from the ROI, in ticks

} // namespace spng
