// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cuda_simulator {

/// Tell the runtime from now on which parts of its blocks LibTorch's allocator gives out.
/// Do nothing before the allocator is ready, and when called again.
void follow_allocations();

} // namespace cuda_simulator
