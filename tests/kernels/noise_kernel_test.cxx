// SPDX-License-Identifier: Apache-2.0
#include "spng/core/selection.h"
#include "spng/nodes/roi/robust_rms.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>

namespace spng::testing {
namespace {

/// Return the distance of two finite values in steps between adjacent values of the type.
template <class Real>
std::int64_t steps_between(const at::Tensor& left, const at::Tensor& right) {
    std::int64_t most = 0;
    const at::Tensor a = left.contiguous(), b = right.contiguous();
    for (std::int64_t i = 0; i < a.numel(); ++i) {
        const auto one = static_cast<std::int64_t>(ordered_key(a.const_data_ptr<Real>()[i]));
        const auto other = static_cast<std::int64_t>(ordered_key(b.const_data_ptr<Real>()[i]));
        most = std::max(most, std::abs(one - other));
    }
    return most;
}

std::int64_t steps_between(const at::Tensor& left, const at::Tensor& right) {
    return left.scalar_type() == at::kFloat ? steps_between<float>(left, right)
                                            : steps_between<double>(left, right);
}

/// Compare the kernel with the CPU. Order statistics, and the samples within the cut, are exact. For the RMS,
/// float32 rounds each square, the root and a division; float64 adds in another order than the CPU.
void expect_noise(const at::Tensor& waveforms, double cut = 5, std::int64_t steps_float32 = 4) {
    const ChannelNoise expected = robust_noise(waveforms, cut);
    const at::Tensor seen = emulated([&] {
        const auto [low, median, rms] = kernels::robust_noise(waveforms, cut);
        return at::stack({low, median, rms});
    });
    EXPECT_TRUE(same_bytes(seen[0], expected.low));
    EXPECT_TRUE(same_bytes(seen[1], expected.median));
    const std::int64_t most = waveforms.scalar_type() == at::kFloat ? steps_float32 : 64;
    EXPECT_LE(steps_between(seen[2], expected.rms), most)
        << waveforms.sizes() << ' ' << seen[2] << expected.rms;
}

TEST(NoiseKernel, EveryLengthOfRow) {
    at::manual_seed(1);
    for (const std::int64_t ticks : row_lengths) {
        expect_noise(at::randn({2, ticks}) * 300 + 20);
    }
    expect_noise(at::randn({2, 1025}, at::kDouble) * 300, 3);
}

TEST(NoiseKernel, SignalsOnNoiseAndEveryCut) {
    at::manual_seed(2);
    for (const std::int64_t ticks : {1500, 1600}) { // one warp per row, and one block per row
        at::Tensor waveforms = at::randn({3, ticks}) * 250;
        waveforms.narrow(1, 700, 60).add_(20000);
        for (const double cut : {1.0, 3.0, 5.0, 10.0}) {
            expect_noise(waveforms, cut);
        }
    }
}

TEST(NoiseKernel, RowsOfFewValues) {
    at::manual_seed(3);
    const float tiny = std::numeric_limits<float>::denorm_min();
    expect_noise(at::full({2, 100}, -7.25f));
    expect_noise(at::zeros({2, 65}));
    expect_noise(at::tensor({0.f, -0.f, 0.f, -0.f, -0.f}, at::kFloat).view({1, 5}));
    expect_noise(at::tensor({tiny, -tiny, 0.f, -0.f}, at::kFloat).view({1, 4}));
    expect_noise((at::randint(0, 2, {4, 333}) * 2 - 1).to(at::kFloat));
    for (const std::int64_t ticks : {1500, 1600}) {
        expect_noise(at::full({2, ticks}, -7.25f));
        expect_noise(at::randint(-3, 4, {4, ticks}).to(at::kFloat), 3);
    }
}

TEST(NoiseKernel, SamplesAtTheCutCountAsOnTheCpu) {
    at::manual_seed(7);
    for (const double cut : {1.0, 3.7, 5.0}) {
        for (const std::int64_t ticks : {64, 1600}) {
            at::Tensor waveforms = at::randn({8, ticks}) * 300 + 900;
            for (std::int64_t row = 0; row < waveforms.size(0); ++row) {
                const auto row_samples = waveforms[row];
                const auto [low, median, rms] = robust_noise(row_samples.unsqueeze(0), cut);
                const NoiseRanks ranks(ticks);
                const double middle = median.item<float>();
                const double above = std::get<0>(row_samples.sort())[ranks.high].item<float>() - middle;
                const double below = middle - low.item<float>();
                const double limit = cut * std::sqrt((above * above + below * below) / 2);
                // Replace the largest sample by the value nearest to the limit and by its neighbours. This
                // changes no order statistic.
                float edge = static_cast<float>(middle + limit);
                const auto steps = row % 4 - 2;
                for (std::int64_t step = 0; step < std::abs(steps); ++step) {
                    edge = std::nextafter(edge, steps < 0 ? 0.f : 1e30f);
                }
                row_samples[row_samples.argmax()] = edge;
            }
            expect_noise(waveforms, cut);
        }
    }
}

TEST(NoiseKernel, OneWarpPerRowIfEightRowsFitIntoSharedMemory) {
    at::manual_seed(6);
    const auto launches_of_short_rows = [] {
        const auto& launched = emulation::launched_kernels();
        const auto found = launched.find("robust_noise_of_short_rows_float32");
        return found == launched.end() ? 0 : found->second;
    };
    for (const std::int64_t ticks : {375, 1536, 1537}) { // 48 KiB hold eight rows of 1536 samples
        const int before = launches_of_short_rows();
        expect_noise(at::randn({19, ticks}) * 300);
        EXPECT_EQ(launches_of_short_rows() > before, ticks <= 1536) << ticks;
    }
}

TEST(NoiseKernel, SeparateRowsAndRowsTooLongForSharedMemory) {
    at::manual_seed(4);
    const at::Tensor wide = at::randn({2, 3, 900});
    expect_noise(wide.narrow(2, 100, 501));
    expect_noise(wide.slice(2, 0, 900, 4));
    expect_noise(at::randn({1, 20000}));
    expect_noise(at::randn({1, 40000}).slice(1, 0, 40000, 2));
    expect_noise(at::randn({1, 7000}, at::kDouble));
}

TEST(NoiseKernel, NothingToDo) {
    const emulation::EmulatedDevice device(0);
    EXPECT_TRUE(std::get<2>(kernels::robust_noise(at::zeros({3, 0}), 5)).equal(at::zeros({3})));
    EXPECT_EQ(std::get<0>(kernels::robust_noise(at::zeros({0, 9}), 5)).numel(), 0);
    EXPECT_TRUE(kernels::plain_rms(at::zeros({3, 1})).equal(at::zeros({3})));
}

TEST(CappedNoiseKernel, IsTheCpusToTheByte) {
    at::manual_seed(12);
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const auto type : {at::kFloat, at::kDouble}) {
        for (const std::int64_t channels : {1, 2, 3, 480, 1001}) {
            at::Tensor rms = at::randn({5, channels}, type).abs().mul(100);
            rms[1].slice(0, 0, channels, 2).fill_(0);
            rms[2].fill_(0);
            rms[3].slice(0, 0, channels, 3).fill_(none);
            rms[3].slice(0, 1, channels, 3).fill_(infinity);
            rms[4].fill_(none);
            const at::Tensor low = at::randn({5, channels}, type).mul(100);
            const at::Tensor median = low + at::randn({5, channels}, type).abs().mul(100);
            // All channels count; the good ones; or few of them, with and without a prediction.
            const at::Tensor most = at::rand({5, channels}).lt(0.9), few = at::rand({5, channels}).lt(0.01);
            const at::Tensor predicted = at::rand({5, channels}, type).mul(100);
            const std::array<ViewNoise, 5> views{
                {{}, {most, {}}, {few, {}}, {few, predicted}, {most, predicted}}};
            for (const ViewNoise& view : views) {
                const auto optional = [](const at::Tensor& tensor) {
                    return tensor.defined() ? std::optional(tensor) : std::nullopt;
                };
                for (const double cap : {0.7, 3.0}) {
                    const ChannelNoise expected = capped_noise({low, median, rms}, view, cap);
                    for (const bool is_rms : {false, true}) {
                        const at::Tensor seen = emulated([&] {
                            const auto capped = kernels::capped_noise(low, median, rms, optional(view.good),
                                                                      optional(view.expected), cap);
                            return is_rms ? std::get<1>(capped) : std::get<0>(capped);
                        });
                        EXPECT_TRUE(seen.nan_to_num(-1).equal(
                            (is_rms ? expected.rms : expected.median).nan_to_num(-1)))
                            << channels << " channels, cap " << cap;
                    }
                }
            }
        }
    }
}

TEST(NoiseKernel, PlainRms) {
    at::manual_seed(5);
    for (const std::int64_t ticks : {2, 3, 64, 1025, 6000}) {
        for (const auto type : {at::kFloat, at::kDouble}) {
            // ADC above a baseline: the mean is large compared with the deviations.
            const at::Tensor waveforms = (at::randn({2, ticks}, at::kDouble) * 3 + 2350).to(type);
            const at::Tensor seen = emulated([&] { return kernels::plain_rms(waveforms); });
            const at::Tensor expected = plain_rms(waveforms);
            // The mean is rounded to the type: half a step at 2350, for deviations of 3.
            const double relative = type == at::kFloat ? 1e-6 : 1e-13;
            EXPECT_LE(((seen - expected) / expected).abs().max().item<double>(), relative) << ticks;
        }
    }
}

} // namespace
} // namespace spng::testing
