// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng::recorder {

/// Return only if a recording may take the place of what the path names: nothing, an empty file, a complete recording or
/// an export of nsys. Anything else is rejected below resolve_target(), or is somebody's data.
/// @throws DatabaseError
void require_replaceable(const std::string& target);

} // namespace spng::recorder
