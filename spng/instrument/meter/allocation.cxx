// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/allocation.h"

#include "spng/instrument/not_measured.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

namespace spng::instrument {
namespace {

thread_local AllocationScope* t_scope = nullptr;
std::atomic<std::int64_t> live_bytes{0}; // of all threads
std::atomic<std::int64_t> peak_bytes{0};
std::atomic<bool> is_counting{false};

void raise_peak(std::int64_t live) noexcept {
    std::int64_t peak = peak_bytes.load(std::memory_order_relaxed);
    while (live > peak && !peak_bytes.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
    }
}

} // namespace

/// Access of the allocators to the scope of the current thread.
struct AllocationCounters {
    static void cpu(std::int64_t bytes) noexcept {
        raise_peak(live_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes);
        if (t_scope != nullptr) {
            t_scope->m_cpu.add(bytes);
        }
    }
    static void device(std::int64_t bytes) noexcept {
        if (t_scope != nullptr) {
            t_scope->m_device.add(bytes);
        }
    }
};

namespace {

/// Header in front of each block: the size, and the inner allocator's way to release it.
struct BlockHeader {
    std::int64_t bytes;
    void* inner_context;
    c10::DeleterFnPtr inner_release;
};

// The header's size keeps the alignment of c10's blocks.
constexpr std::size_t header_room = c10::gAlignment;
static_assert(sizeof(BlockHeader) <= header_room);

void release_block(void* data) {
    if (data == nullptr) {
        return;
    }
    const BlockHeader header = *reinterpret_cast<BlockHeader*>(static_cast<char*>(data) - header_room);
    AllocationCounters::cpu(-header.bytes);
    header.inner_release(header.inner_context);
}

class CountingAllocator final : public c10::Allocator {
public:
    explicit CountingAllocator(c10::Allocator* inner) : m_inner(inner) {}

    c10::DataPtr allocate(std::size_t bytes) override {
        if (bytes == 0) {
            return {nullptr, nullptr, &release_block, c10::Device(c10::kCPU)};
        }
        c10::DataPtr block = m_inner->allocate(bytes + header_room);
        auto* const start = static_cast<char*>(block.get());
        const c10::DeleterFnPtr inner_release = block.get_deleter();
        new (start) BlockHeader{static_cast<std::int64_t>(bytes), block.release_context(), inner_release};
        AllocationCounters::cpu(static_cast<std::int64_t>(bytes));
        void* const data = start + header_room;
        return {data, data, &release_block, c10::Device(c10::kCPU)};
    }

    c10::DeleterFnPtr raw_deleter() const override { return &release_block; }

    void copy_data(void* to, const void* from, std::size_t bytes) const override {
        default_copy_data(to, from, bytes);
    }

private:
    c10::Allocator* m_inner;
};

/// Receives the reports of allocators. LibTorch expects a profiler's state in the slot, so this is a profiler's state that
/// reports itself as disabled. Devices report to any state, the CPU only to one that profiles memory.
class MemoryReports final : public torch::profiler::impl::ProfilerStateBase {
public:
    explicit MemoryReports(bool of_cpu)
        : ProfilerStateBase(torch::profiler::impl::ProfilerConfig(
              torch::profiler::impl::ProfilerState::Disabled, /*report_input_shapes=*/false, of_cpu)) {}

    void reportMemoryUsage(void*, std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override {
        if (!device.is_cpu()) {
            AllocationCounters::device(bytes);
        } else if (!is_counting) {
            AllocationCounters::cpu(bytes);
        }
    }
    torch::profiler::impl::ActiveProfilerType profilerType() override {
        return torch::profiler::impl::ActiveProfilerType::NONE;
    }

    /// One object serves all threads, since it has no state.
    static const std::shared_ptr<MemoryReports>& shared(bool of_cpu) {
        static const auto devices = std::make_shared<MemoryReports>(false);
        static const auto all = std::make_shared<MemoryReports>(true);
        return of_cpu ? all : devices;
    }
};

} // namespace

/// Occupies the slot for memory reports during its life.
class AllocationScope::Listener {
public:
    explicit Listener(bool of_cpu)
        : m_guard(c10::DebugInfoKind::PROFILER_STATE, MemoryReports::shared(of_cpu)) {}

private:
    c10::DebugInfoGuard m_guard;
};

void AllocationTally::add(std::int64_t bytes) noexcept {
    live += bytes;
    if (bytes > 0) {
        allocated += bytes;
        peak = std::max(peak, live);
    }
}

void AllocationTally::absorb(const AllocationTally& nested) noexcept {
    allocated += nested.allocated;
    peak = std::max(peak, live + nested.peak);
    live += nested.live;
}

void count_cpu_allocations() {
    static std::once_flag once;
    std::call_once(once, [] {
        auto* const inner = c10::GetAllocator(c10::kCPU);
        // Never destroyed: tensors may be released after all static objects. Priority 0 is that of LibTorch's
        // own, so that users can still set another allocator.
        c10::SetAllocator(c10::kCPU, new CountingAllocator(inner), 0);
        is_counting = true;
    });
}

bool counts_cpu_allocations() noexcept {
    return is_counting;
}

std::int64_t peak_cpu_bytes() noexcept {
    return is_counting ? peak_bytes.load(std::memory_order_relaxed) : not_measured;
}

AllocationScope::AllocationScope(Reports reports) : m_outer(t_scope) {
    if (reports != Reports::none) {
        m_counts_device = m_outer != nullptr && m_outer->m_counts_device;
        if (!m_counts_device &&
            c10::ThreadLocalDebugInfo::get(c10::DebugInfoKind::PROFILER_STATE) == nullptr) {
            m_listener = std::make_unique<Listener>(reports == Reports::all);
            m_counts_device = true;
        }
    }
    t_scope = this;
}

AllocationScope::~AllocationScope() {
    t_scope = m_outer;
    if (m_outer != nullptr) {
        m_outer->m_cpu.absorb(m_cpu);
        m_outer->m_device.absorb(m_device);
    }
}

} // namespace spng::instrument
