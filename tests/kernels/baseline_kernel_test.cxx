// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/operators.h"
#include "spng/nodes/decon/baseline.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

namespace spng::testing {
namespace {

/// Compare the kernel with the CPU's operator; both are exact.
void expect_same(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type = at::kFloat,
                 const std::optional<at::Tensor>& good = std::nullopt) {
    const at::Tensor expected = subtract_baseline_and_pad(waveforms, padded_ticks, type, good);
    const at::Tensor seen =
        emulated([&] { return kernels::subtract_baseline_and_pad(waveforms, padded_ticks, type, good); });
    EXPECT_TRUE(same_bytes(seen, expected)) << waveforms.sizes() << ' ' << waveforms.scalar_type();
}

at::Tensor adc(std::int64_t low, std::int64_t past, at::IntArrayRef shape) {
    return at::randint(low, past, shape, at::kShort);
}

TEST(BaselineKernel, EveryLengthOfRow) {
    at::manual_seed(1);
    for (const std::int64_t ticks : row_lengths) {
        expect_same(adc(880, 930, {2, ticks}), ticks + 5);
        expect_same(adc(-32768, 32768, {2, ticks}), ticks);
    }
}

TEST(BaselineKernel, EveryTypeOfSampleAndResult) {
    at::manual_seed(2);
    for (const auto sample : {at::kShort, at::kFloat, at::kDouble}) {
        for (const auto result : {at::kFloat, at::kDouble}) {
            expect_same((at::randn({4, 333}, at::kDouble) * 1000 + 2350.1).to(sample), 400, result);
        }
    }
}

TEST(BaselineKernel, RowsOfFewValues) {
    constexpr std::int16_t lowest = -32768, highest = 32767;
    for (const std::int64_t ticks : {1, 2, 3, 64, 257}) {
        for (const std::int16_t value : {lowest, highest, std::int16_t{0}, std::int16_t{-1}}) {
            expect_same(at::full({1, ticks}, value, at::kShort), ticks + 1);
        }
        at::Tensor extremes = at::full({1, ticks}, lowest, at::kShort);
        extremes.narrow(1, ticks / 2, ticks - ticks / 2).fill_(highest);
        expect_same(extremes, ticks + 1);
        expect_same((adc(0, 2, {3, ticks}) * 2 - 1).to(at::kShort), ticks);
    }
}

TEST(BaselineKernel, SignedZerosAndDenormals) {
    const float tiny = std::numeric_limits<float>::denorm_min();
    const float most = std::numeric_limits<float>::max();
    expect_same(at::tensor({0.f, -0.f, -0.f}, at::kFloat).view({1, 3}), 4);
    expect_same(at::tensor({0.f, 0.f, -0.f}, at::kFloat).view({1, 3}), 4);
    expect_same(at::tensor({tiny, -tiny, 0.f, 2 * tiny, -0.f}, at::kFloat).view({1, 5}), 5);
    expect_same(at::tensor({most, -most, 1.f, -most, most}, at::kFloat).view({1, 5}), 5);
    expect_same(at::tensor({5e-324, -5e-324, 1e308, -1e308}, at::kDouble).view({1, 4}), 5, at::kDouble);
}

TEST(BaselineKernel, BadChannelsAreZeroForAnySamples) {
    at::manual_seed(3);
    at::Tensor waveforms = at::randn({3, 5, 70});
    waveforms[1][2].fill_(std::numeric_limits<float>::quiet_NaN());
    at::Tensor good = at::rand({3, 5}) < 0.6;
    good[1][2] = false;
    expect_same(waveforms, 100, at::kFloat, good);
    expect_same(waveforms, 100, at::kFloat, at::zeros({3, 5}, at::kBool));
}

TEST(BaselineKernel, SeparateRowsAndRowsTooLongForSharedMemory) {
    at::manual_seed(4);
    const at::Tensor wide = adc(0, 4096, {2, 3, 200});
    expect_same(wide.narrow(2, 50, 101), 128);
    expect_same(wide.slice(2, 1, 200, 3), 70);
    expect_same(wide.transpose(0, 1), 200);
    for (const std::int64_t ticks :
         {24383, 24384, 24385, 30000}) { // 48 KiB less the partial results: 24384 samples
        expect_same(adc(0, 4096, {1, ticks}), ticks);
    }
    expect_same(adc(0, 4096, {2, 60000}).slice(1, 0, 60000, 2), 30000);
}

TEST(BaselineKernel, NothingToDo) {
    expect_same(at::zeros({0, 10}, at::kShort), 12);
    expect_same(at::zeros({4, 0}, at::kShort), 12);
}

} // namespace
} // namespace spng::testing
