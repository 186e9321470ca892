// SPDX-License-Identifier: Apache-2.0
// LibTorch's functions for spng/device/memory/allocator_history.h.

#include "spng/device/memory/allocator_history.h"

#include <torch/csrc/cuda/memory_snapshot.h>

namespace spng {
namespace {

/// Entries for each device, the latest ones; LibTorch's viewer becomes slow with more.
constexpr std::size_t max_entries = 100'000;

[[maybe_unused]] const bool is_registered = [] {
    set_allocator_history({.start =
                               [] {
                                   torch::cuda::_record_memory_history(
                                       /*enabled=*/"all", /*context=*/"alloc", /*stacks=*/"all", max_entries);
                               },
                           .snapshot = torch::cuda::_memory_snapshot_pickled});
    return true;
}();

} // namespace
} // namespace spng
