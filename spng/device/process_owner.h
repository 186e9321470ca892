// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Declare that the process is ours: called once, by wire-cell. In all other programs this library is a guest, which changes
/// nothing that belongs to the process, such as handlers of signals, LibTorch's allocator, or limits of other libraries.
void own_process();
bool owns_process();

} // namespace spng
