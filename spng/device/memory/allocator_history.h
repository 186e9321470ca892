// SPDX-License-Identifier: Apache-2.0
#pragma once
// History of LibTorch's caching allocator on CUDA devices: every allocation and release with its C++ stack.
// LibTorch's functions are in libtorch_cuda, so libWireCellSpngCuda.so calls them.

#include <string>

namespace spng {

struct AllocatorHistory {
    void (*start)();           ///< on all devices; CUDA must be initialised
    std::string (*snapshot)(); ///< blocks and history as the pickle that pytorch.org/memory_viz opens
};

/// Set the functions; libWireCellSpngCuda.so does so when it is loaded.
void set_allocator_history(AllocatorHistory history);

/// Request the history. It starts with CUDA, before the first allocation.
void request_allocator_history();

/// Start the history if it is requested and not yet started. Call it when CUDA is initialised. Does nothing if
/// libWireCellSpngCuda.so is not loaded.
void start_requested_allocator_history();

bool allocator_history_is_on();

/// Return the pickle. Call it only if the history is on.
std::string allocator_snapshot();

} // namespace spng
