// SPDX-License-Identifier: Apache-2.0
// Run the emulator with the sources of all kernels, and check that it detects faults of wrong kernels.

#include "tests/kernels/emulated_device.h"
#include "tests/kernels/emulated_kernels.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "tests/kernels/emulator/device.h"

namespace spng::emulation {
namespace {

std::uint64_t current_seed = 0;
std::int64_t current_max_blocks = 0, current_limit = 0;
std::map<std::string, int> launched;

void run_launch(const kernels::Launch& launch) {
    const auto found = emulated_kernels().find(launch.kernel);
    if (found == emulated_kernels().end()) {
        throw Violation(std::string("no kernel ") + launch.kernel);
    }
    if (launch.blocks < 1 || launch.shared_bytes > current_limit) {
        throw Violation(std::string("a launch that a device rejects: ") + launch.kernel);
    }
    const auto& parameters = found->second.parameters;
    if (!std::ranges::equal(parameters, launch.value_bytes, {}, &Parameter::bytes)) {
        throw Violation(std::string("arguments of another number or size than the parameters of ") +
                        launch.kernel);
    }
    const auto blocks = static_cast<unsigned>(std::min(launch.blocks, current_max_blocks));
    run(found->second, blocks, kernels::threads_of_block, static_cast<std::size_t>(launch.shared_bytes),
        launch.arguments, current_seed);
    ++launched[launch.kernel];
}

} // namespace

EmulatedDevice::EmulatedDevice(std::uint64_t seed, std::int64_t max_blocks, std::int64_t shared_bytes) {
    current_seed = seed;
    current_max_blocks = max_blocks;
    current_limit = shared_bytes;
    kernels::set_launcher(run_launch, [](c10::Device) { return current_limit; });
}

EmulatedDevice::~EmulatedDevice() {
    kernels::set_launcher(nullptr, nullptr);
}

const std::map<std::string, int>& launched_kernels() {
    return launched;
}

namespace {

using kernels::SharedArray;
using kernels::SharedMemory;

/// Return the violation of a kernel of one block; empty if there is none.
std::string violation_of(const std::function<void()>& kernel, std::uint64_t seed = 0,
                         std::size_t shared_bytes = 1024, unsigned threads = 64) {
    try {
        BlockRunner runner(threads);
        runner.begin_launch(shared_bytes, seed);
        runner.run(kernel, {}, {1, 1, 1});
    } catch (const Violation& violation) {
        return violation.what();
    }
    return "";
}

/// Sum the indices of the threads by halves in shared memory, as a kernel does.
void sum_by_halves(bool with_barrier, int* result) {
    SharedMemory memory;
    const SharedArray<int> part = memory.take<int>(64);
    const unsigned me = threadIdx.x;
    part[me] = static_cast<int>(me);
    __syncthreads();
    for (unsigned half = 32; half > 0; half /= 2) {
        if (me < half) {
            part[me] += part[me + half];
        }
        if (with_barrier) {
            __syncthreads();
        }
    }
    if (me == 0) {
        *result = part[0];
    }
}

TEST(KernelEmulator, GivesTheSameSumInEveryOrderOfThreads) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        int sum = 0;
        EXPECT_EQ(violation_of([&] { sum_by_halves(true, &sum); }, seed), "");
        EXPECT_EQ(sum, 63 * 64 / 2);
    }
}

TEST(KernelEmulator, DetectsAMissingBarrierInEveryOrder) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        int sum = 0;
        const std::string seen = violation_of([&] { sum_by_halves(false, &sum); }, seed);
        EXPECT_NE(seen.find("without a barrier between"), std::string::npos) << seed << ": " << seen;
    }
}

TEST(KernelEmulator, MissingBarrierChangesTheResultOfSomeOrder) {
    // Use host memory, which the emulator does not check: the result of a wrong kernel depends on the seed.
    std::vector<int> results;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        std::array<int, 64> part{};
        violation_of(
            [&] {
                const unsigned me = threadIdx.x;
                part[me] = static_cast<int>(me) + 1;
                part[me] += part[(me + 1) % 64];
            },
            seed);
        results.push_back(std::accumulate(part.begin(), part.end(), 0));
    }
    EXPECT_GT(std::set<int>(results.begin(), results.end()).size(), 1u);
}

TEST(KernelEmulator, DetectsReadsOfUnwrittenMemory) {
    const std::string seen = violation_of([] {
        SharedMemory memory;
        const SharedArray<int> part = memory.take<int>(64);
        if (threadIdx.x > 0) {
            part[threadIdx.x] = 1;
        }
        __syncthreads();
        static_cast<void>(static_cast<int>(part[threadIdx.x]));
    });
    EXPECT_NE(seen.find("read before it is written"), std::string::npos) << seen;
}

TEST(KernelEmulator, DetectsAccessOutOfBoundsAndTooMuchSharedMemory) {
    const std::string outside = violation_of([] {
        SharedMemory memory;
        const SharedArray<int> part = memory.take<int>(63);
        part[threadIdx.x] = 1;
    });
    EXPECT_NE(outside.find("element 63 of a shared array of 63"), std::string::npos) << outside;
    const std::string part = violation_of([] {
        SharedMemory memory;
        memory.take<int>(63).part(32, 32);
    });
    EXPECT_NE(part.find("a part up to element 64 of a shared array of 63"), std::string::npos) << part;
    const std::string large = violation_of([] { SharedMemory().take<double>(129); });
    EXPECT_NE(large.find("1032 taken"), std::string::npos) << large;
}

TEST(KernelEmulator, DetectsThreadsThatDoNotMeet) {
    const std::string barrier = violation_of([] {
        if (threadIdx.x < 32) {
            __syncthreads();
        }
    });
    EXPECT_NE(barrier.find("threads that never meet: 32 threads wait at the block's barrier"),
              std::string::npos)
        << barrier;
    const std::string warp = violation_of([] {
        if (threadIdx.x % 2 == 0) {
            __ballot_sync(0xffffffffu, true);
        }
    });
    EXPECT_NE(warp.find("32 in a warp operation"), std::string::npos) << warp;
    const std::string mixed = violation_of([] {
        if (threadIdx.x % 2 == 0) {
            __ballot_sync(0xffffffffu, true);
        } else {
            __syncwarp();
        }
    });
    EXPECT_NE(mixed.find("meet in"), std::string::npos) << mixed;
    const std::string part = violation_of([] { __ballot_sync(0xffffu, true); });
    EXPECT_NE(part.find("part of a warp"), std::string::npos) << part;
}

TEST(KernelEmulator, ReducesOverTheLanesOfAWarp) {
    EXPECT_EQ(violation_of([] {
                  const unsigned lane = threadIdx.x % 32;
                  const unsigned sum = __reduce_add_sync(0xffffffffu, threadIdx.x);
                  const int least = __reduce_min_sync(0xffffffffu, 10 - static_cast<int>(lane));
                  const unsigned expected = 31 * 32 / 2 + (threadIdx.x - lane) * 32;
                  if (sum != expected || least != -21) {
                      running->fail(std::to_string(sum) + " and " + std::to_string(least));
                  }
              }),
              "");
}

TEST(KernelEmulator, WarpsAreOrderedByTheirOwnBarrierOnly) {
    const auto handed_on = [](bool ordered) {
        return violation_of([=] {
            SharedMemory memory;
            const SharedArray<unsigned> part = memory.take<unsigned>(64);
            part[threadIdx.x] = threadIdx.x;
            if (ordered) {
                __syncwarp();
            } else {
                __ballot_sync(0xffffffffu, true);
            }
            static_cast<void>(static_cast<unsigned>(part[threadIdx.x ^ 1]));
        });
    };
    EXPECT_EQ(handed_on(true), "");
    EXPECT_NE(handed_on(false).find("written and then read"), std::string::npos);
}

TEST(KernelEmulator, RejectsArgumentsOfOtherTypesAndUnknownKernels) {
    const EmulatedDevice device(0);
    EXPECT_THROW(kernels::launch("deconvolve_float32", c10::Device("cpu"), 1, 0, 1, 2), Violation);
    EXPECT_THROW(kernels::launch("no_such_kernel", c10::Device("cpu"), 1, 0), Violation);
}

} // namespace
} // namespace spng::emulation
