// SPDX-License-Identifier: Apache-2.0
#pragma once
// Read the response of electronics from a file of samples.

#include "spng/detector/electronics/electronics_response.h"

#include <string>

namespace spng {

/// Read {"times": [...], "amplitudes": [...]}, plain or compressed, in the base units of the Wire-Cell Toolkit: ns, and
/// MV per electron charge.
/// @throws Error(Configuration) for an unreadable file, a missing key, lists of different lengths, fewer than two
/// samples, times that do not increase or are beyond a second, and a largest sample that is not at a positive time
/// or not 1e-15 to 1e-9 MV/e
Electronics load_sampled_electronics(const std::string& path, double postgain);

} // namespace spng
