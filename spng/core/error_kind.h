// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/error.h"

namespace spng {

/// Return the name of a kind, as Python and the answers of --files give it.
const char* name_of(ErrorKind kind);

} // namespace spng
