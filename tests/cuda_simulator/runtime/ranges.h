// SPDX-License-Identifier: Apache-2.0
#pragma once
// The NVTX ranges of the program, so that operations can be attributed to nodes. They come if NVTX_INJECTION64_PATH
// names this library and the program is built with NVTX.

#include <string>

namespace cuda_simulator {

/// Name of the innermost range of this thread; empty if there is none.
const std::string& current_range();

} // namespace cuda_simulator
