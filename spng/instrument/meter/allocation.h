// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensor memory that code on one thread allocates, and the growth of its live bytes.
//
// On the CPU an allocator in front of LibTorch's counts every block. (LibTorch's reports to profilers cover only
// blocks allocated while a profiler listens, and warn about every other block that is freed.) On devices the reports
// of LibTorch are complete and used. They are not available while a profiler of LibTorch is on in the same thread,
// since both need the same slot.

#include <cstdint>
#include <memory>

namespace spng::instrument {

/// Bytes of one kind of memory since the start of a count.
struct AllocationTally {
    std::int64_t allocated = 0; ///< sum of all allocations
    std::int64_t live = 0;      ///< allocations minus releases; negative when older blocks were released
    std::int64_t peak = 0;      ///< highest value of live, at least 0

    /// Add an allocation (positive) or a release (negative).
    void add(std::int64_t bytes) noexcept;
    /// Add the counts of nested code.
    void absorb(const AllocationTally& nested) noexcept;
};

/// Put the counting allocator in front of the CPU allocator of the whole process; later calls do nothing. Only a program
/// that owns its process calls it. An allocator that is set later replaces it, and CPU tallies then stay at 0.
void count_cpu_allocations();
/// Tell whether the counting allocator was put in front. Without it CPU memory is not measured.
bool counts_cpu_allocations() noexcept;

/// The highest sum so far of the bytes of live CPU tensors of all threads that were allocated since
/// count_cpu_allocations(); without it not_measured.
std::int64_t peak_cpu_bytes() noexcept;

/// Counts the allocations of the current thread from construction to destruction. Scopes nest: an inner scope adds
/// its counts to the outer one at its end.
class AllocationScope {
public:
    /// Reports of LibTorch's allocators to the scope, at the cost of a few allocations. `all`: those of devices and, if
    /// nobody counts CPU memory, those of the CPU, which then do not include the release of older blocks.
    enum class Reports { none, devices, all };

    explicit AllocationScope(Reports reports);
    ~AllocationScope();
    AllocationScope(const AllocationScope&) = delete;
    AllocationScope& operator=(const AllocationScope&) = delete;

    const AllocationTally& cpu() const { return m_cpu; }
    const AllocationTally& device() const { return m_device; }
    /// Whether device() is valid.
    bool counts_device() const { return m_counts_device; }

private:
    friend struct AllocationCounters;
    class Listener;

    AllocationTally m_cpu;
    AllocationTally m_device;
    AllocationScope* m_outer;
    bool m_counts_device = false;
    std::unique_ptr<Listener> m_listener;
};

} // namespace spng::instrument
