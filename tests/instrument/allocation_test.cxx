// SPDX-License-Identifier: Apache-2.0
// Tensor memory of a piece of code, on buffers of known sizes.

#include "spng/instrument/meter/allocation.h"

#include <ATen/Functions.h>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <torch/csrc/profiler/orchestration/observer.h>

#include <gtest/gtest.h>

#include <thread>

namespace {

using namespace spng::instrument;

at::Tensor megabytes(int count) {
    return at::empty({count * 1'000'000}, at::kByte);
}

class Allocation : public testing::Test {
protected:
    void SetUp() override { count_cpu_allocations(); }
};

TEST_F(Allocation, SumsAndPeaksOfKnownBuffers) {
    const AllocationScope scope(AllocationScope::Reports::none);
    at::Tensor first = megabytes(4);
    at::Tensor second = megabytes(2); // 6 live
    first.reset();                    // 2 live
    const at::Tensor third = megabytes(1);
    EXPECT_EQ(scope.cpu().allocated, 7'000'000);
    EXPECT_EQ(scope.cpu().live, 3'000'000);
    EXPECT_EQ(scope.cpu().peak, 6'000'000);
}

TEST_F(Allocation, ReleasesOfOlderBuffersMakeRoom) {
    at::Tensor older = megabytes(5);
    const AllocationScope scope(AllocationScope::Reports::none);
    older.reset();
    const at::Tensor young = megabytes(3);
    EXPECT_EQ(scope.cpu().allocated, 3'000'000);
    EXPECT_EQ(scope.cpu().live, -2'000'000);
    EXPECT_EQ(scope.cpu().peak, 0);
}

TEST_F(Allocation, OuterScopeHoldsWhatTheInnerDid) {
    const AllocationScope outer(AllocationScope::Reports::none);
    const at::Tensor before = megabytes(1);
    at::Tensor kept;
    {
        const AllocationScope inner(AllocationScope::Reports::none);
        kept = megabytes(2);
        megabytes(4); // 6 live in here, 7 in all
        EXPECT_EQ(inner.cpu().peak, 6'000'000);
    }
    const at::Tensor after = megabytes(1);
    EXPECT_EQ(outer.cpu().allocated, 8'000'000);
    EXPECT_EQ(outer.cpu().live, 4'000'000);
    EXPECT_EQ(outer.cpu().peak, 7'000'000);
}

TEST_F(Allocation, OtherThreadsAreNotCounted) {
    const AllocationScope scope(AllocationScope::Reports::none);
    std::thread([] { megabytes(1); }).join();
    EXPECT_EQ(scope.cpu().allocated, 0);
}

/// Report an allocation to LibTorch as the allocator of a device does.
void device_reports(std::int64_t bytes) {
    c10::reportMemoryUsageToProfiler(nullptr, bytes, 0, 0, c10::Device(c10::kCUDA, 0));
}

TEST_F(Allocation, DeviceMemoryIsCountedFromTheReportsOfItsAllocator) {
    const AllocationScope scope(AllocationScope::Reports::devices);
    ASSERT_TRUE(scope.counts_device());
    device_reports(5000);
    device_reports(-5000);
    {
        const AllocationScope inner(AllocationScope::Reports::devices);
        ASSERT_TRUE(inner.counts_device());
        device_reports(7000);
        EXPECT_EQ(inner.device().peak, 7000);
    }
    const at::Tensor host = megabytes(1);
    EXPECT_EQ(scope.device().allocated, 12000);
    EXPECT_EQ(scope.device().live, 7000);
    EXPECT_EQ(scope.device().peak, 7000);
    EXPECT_EQ(scope.cpu().allocated, 1'000'000);
}

TEST_F(Allocation, LibTorchsProfilerHasPrecedence) {
    using namespace torch::profiler::impl;
    {
        const AllocationScope scope(AllocationScope::Reports::devices);
        EXPECT_FALSE(profilerEnabled()) << "counting looks like a profiler";
    }
    const c10::DebugInfoGuard profiler(c10::DebugInfoKind::PROFILER_STATE,
                                       std::make_shared<c10::DebugInfoBase>());
    const AllocationScope scope(AllocationScope::Reports::devices);
    EXPECT_FALSE(scope.counts_device());
}

TEST_F(Allocation, BlocksStayAlignedResizableAndRaw) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at::empty({3}).data_ptr()) % 64, 0u);
    EXPECT_EQ(at::empty({0}).numel(), 0);
    at::Tensor grown = at::arange(4);
    grown.resize_({1000});
    EXPECT_EQ(grown[3].item<std::int64_t>(), 3);
    auto* const allocator = c10::GetAllocator(c10::kCPU);
    void* const raw = allocator->raw_allocate(100);
    EXPECT_NE(raw, nullptr);
    allocator->raw_deallocate(raw);
}

} // namespace
