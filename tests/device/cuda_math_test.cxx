// SPDX-License-Identifier: Apache-2.0
// The choice of CUDA algorithms is that of the host outside of our scopes.

#include "spng/device/cuda_math.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <optional>
#include <thread>

namespace spng {
namespace {

std::array<bool, 3> chosen() {
    const at::Context& context = at::globalContext();
    return {context.allowTF32CuBLAS(), context.allowTF32CuDNN(at::Float32Op::CONV),
            context.deterministicCuDNN()};
}

TEST(CudaMath, TheChoiceOfTheHostIsRestored) {
    const auto before = chosen();
    for (const bool fast : {true, false}) {
        std::optional<CudaMath> outer(fast);
        EXPECT_EQ(chosen(), (std::array{fast, fast, !fast}));
        { const CudaMath inner(fast); }
        EXPECT_EQ(chosen(), (std::array{fast, fast, !fast}));
        outer.reset();
        EXPECT_EQ(chosen(), before);
    }
}

TEST(CudaMath, ScopesOfTheOtherKindWait) {
    std::optional<CudaMath> fast(true);
    std::atomic<bool> ended{false};
    std::array<bool, 3> seen{};
    std::thread other([&] {
        const CudaMath exact(false);
        seen = chosen();
        ended = true;
    });
    EXPECT_EQ(chosen(), (std::array{true, true, false}));
    EXPECT_FALSE(ended);
    fast.reset();
    other.join();
    EXPECT_EQ(seen, (std::array{false, false, true}));
}

} // namespace
} // namespace spng
