// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/allocations.h"

#include <c10/cuda/CUDACachingAllocator.h>

#include <atomic>

namespace cuda_simulator {
namespace {

using Entry = c10::CachingDeviceAllocator::TraceEntry;

void note(const Entry& entry) {
    void* const begin = reinterpret_cast<void*>(entry.addr_); // NOLINT(performance-no-int-to-ptr)
    if (entry.action_ == Entry::ALLOC) {
        note_allocation(begin, entry.size_);
    } else if (entry.action_ == Entry::FREE_COMPLETED) {
        note_release(begin);
    }
}

} // namespace

void follow_allocations() {
    static std::atomic<bool> is_followed = false;
    auto* const allocator = c10::cuda::CUDACachingAllocator::get();
    if (!is_followed && allocator->initialized() && !is_followed.exchange(true)) {
        allocator->attachAllocatorTraceTracker(note);
    }
}

} // namespace cuda_simulator
