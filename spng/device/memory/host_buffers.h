// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Keep large host buffers for the next event instead of returning them to the system: a fresh 61 MB buffer
/// costs 15,000 page faults each time. Replaces LibTorch's CPU allocator and settings of malloc in the whole process, so
/// only a program that owns its process calls it: wire-cell, never a library in somebody else's. Later calls do nothing.
void reuse_host_buffers();

/// Return unused buffers to the system. Call it when memory is short.
void release_host_buffers();

} // namespace spng
