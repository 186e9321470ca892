// SPDX-License-Identifier: Apache-2.0
#pragma once
// How nodes make reports.

#include "spng/core/report.h"

#include <functional>
#include <string>

namespace spng {

/// Queue the copy of a report's values to the host. Not in captures and in the warm-up.
Report copied(Report report);

/// Read values now if they are on the CPU; else add a report, copied(), to `reports`, for the set that the node returns.
/// During the warm-up, which is no event, values on the CPU are not read.
/// @param channels  Found::channels
/// @param read      as Report::read
/// @return the notes that were found now
Notes reported(const std::string& node, const at::Tensor& values, const at::Tensor& channels,
               std::function<Notes(const at::Tensor& values)> read, Reports& reports);

} // namespace spng
