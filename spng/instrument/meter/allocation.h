#pragma once
// How many bytes of tensor memory a piece of code on one thread allocates, and by how much its live bytes
// grow.
//
// On the CPU every block is counted by an allocator that stands before LibTorch's. (LibTorch's own reports to
// profilers know only blocks allocated while one listened, and print a warning about each other block that is
// freed.) On devices LibTorch's reports are complete and are used; they are not available while a profiler of
// LibTorch's is on in the same thread, since both need the same slot.

#include <cstdint>
#include <memory>

namespace spng::instrument {

/// Bytes of one kind of memory since some moment.
struct AllocationTally {
    std::int64_t allocated = 0; ///< sum of all allocations
    std::int64_t live = 0;      ///< allocations minus releases; negative when older blocks were released
    std::int64_t peak = 0;      ///< highest value of live, at least 0

    /// An allocation (positive) or a release (negative).
    void add(std::int64_t bytes) noexcept;
    /// What a nested piece of code did, as if it had been counted here too.
    void absorb(const AllocationTally& nested) noexcept;
};

/// Put the counting allocator before the CPU allocator in use. Once per process; later calls do nothing.
/// An allocator that is set later replaces it, and then CPU tallies stay at 0.
void count_cpu_allocations();

/// Bytes that CPU tensors of all threads hold that were allocated since count_cpu_allocations().
std::int64_t live_cpu_bytes() noexcept;
/// The highest value of live_cpu_bytes() so far.
std::int64_t peak_cpu_bytes() noexcept;

/// Counts what the current thread does from its construction to its destruction. Scopes nest: an outer one
/// sees what the inner ones counted when they end.
class AllocationScope {
public:
    /// @param with_device  also count device memory, at the cost of a few allocations
    explicit AllocationScope(bool with_device);
    ~AllocationScope();
    AllocationScope(const AllocationScope&) = delete;
    AllocationScope& operator=(const AllocationScope&) = delete;

    const AllocationTally& cpu() const { return m_cpu; }
    const AllocationTally& device() const { return m_device; }
    /// Whether device() means anything.
    bool counts_device() const { return m_counts_device; }

private:
    friend struct AllocationCounters;
    class DeviceListener;

    AllocationTally m_cpu;
    AllocationTally m_device;
    AllocationScope* m_outer;
    bool m_counts_device = false;
    std::unique_ptr<DeviceListener> m_device_listener;
};

} // namespace spng::instrument
