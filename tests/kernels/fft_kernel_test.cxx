// SPDX-License-Identifier: Apache-2.0
// Transforms in shared memory against ATen's in float64.

#include "spng/kernels/transforms/fft_plan.h"
#include "spng/nodes/decon/deconvolution.h"
#include "spng/nodes/decon/interpolated_rows.h"
#include "spng/nodes/decon/waveform_spectrum.h"
#include "spng/nodes/filter/time_filter.h"
#include "tests/kernels/emulator/bank_counter.h"
#include "tests/kernels/kernel_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace spng::testing {
namespace {

using Sizes = std::vector<std::int64_t>;

double rms(const at::Tensor& values) {
    return values.numel() == 0 ? 0 : at::abs(values).to(at::kDouble).square().mean().sqrt().item<double>();
}

at::ScalarType wide(const at::Tensor& tensor) {
    return tensor.is_complex() ? at::kComplexDouble : at::kDouble;
}

/// Check the result of a kernel against a reference in float64. Float32 is at most twice as far from it as ATen's
/// float32 on the CPU, or 1e-7 of the RMS.
void expect_close(const at::Tensor& seen, const at::Tensor& on_cpu, const at::Tensor& reference,
                  const std::string& what) {
    ASSERT_EQ(seen.sizes(), reference.sizes()) << what;
    ASSERT_EQ(seen.scalar_type(), on_cpu.scalar_type()) << what;
    const auto error = [&](const at::Tensor& values) { return rms(values.to(wide(values)) - reference); };
    const bool is_float32 = c10::toRealValueType(seen.scalar_type()) == at::kFloat;
    const double limit =
        is_float32 ? std::max(2 * error(on_cpu), 1e-7 * rms(reference)) : 1e-15 * rms(reference);
    EXPECT_LE(error(seen), limit) << what << ", RMS " << rms(reference) << ", CPU " << error(on_cpu);
}

/// All lengths up to 10, powers of each prime, and mixtures, with one to five stages.
const Sizes lengths = {1,  2,  3,   4,   5,   6,   7,   8,   9,   10,  12,   14,  15,
                       16, 18, 20,  21,  25,  27,  32,  35,  49,  50,  63,   64,  81,
                       90, 98, 100, 105, 125, 128, 160, 243, 343, 500, 1050, 1575};

using kernels::FftUse;

TEST(FftPlan, FewStagesAndSmallInnerRadices) {
    EXPECT_EQ(kernels::fft_radices(1, FftUse::row), (Sizes{1, 1}));
    EXPECT_EQ(kernels::fft_radices(500, FftUse::tile), (Sizes{10, 10, 5}));
    EXPECT_EQ(kernels::fft_radices(800, FftUse::tile), (Sizes{10, 10, 8}));
    EXPECT_EQ(kernels::fft_radices(1575, FftUse::row), (Sizes{5, 7, 9, 5}));
    EXPECT_EQ(kernels::fft_radices(3150, FftUse::row), (Sizes{5, 10, 9, 7}));
    for (const FftUse use : {FftUse::row, FftUse::tile}) {
        for (const std::int64_t length : {11, 13, 22, 121, 3151}) {
            EXPECT_EQ(kernels::fft_radices(length, use), Sizes{}) << length;
        }
        for (const std::int64_t length : lengths) {
            const Sizes radices = kernels::fft_radices(length, use);
            ASSERT_GE(radices.size(), 2) << length;
            EXPECT_EQ(std::accumulate(radices.begin(), radices.end(), std::int64_t{1}, std::multiplies<>()),
                      length);
            EXPECT_LE(*std::ranges::max_element(radices), kernels::max_radix);
            EXPECT_LE(radices.back(), kernels::max_inner_radix);
        }
    }
}

TEST(FftPlan, TablesAreSharedAndRoundedOnce) {
    const auto plan_of = [](at::ScalarType type, FftUse use = FftUse::row) {
        return kernels::fft_plan(90, use, type, at::kCPU);
    };
    const auto plan = plan_of(at::kFloat), exact = plan_of(at::kDouble);
    EXPECT_TRUE(plan.roots.is_same(plan_of(at::kFloat).roots));
    EXPECT_FALSE(plan.roots.is_same(plan_of(at::kFloat, FftUse::tile).roots));
    EXPECT_TRUE(plan.roots.equal(exact.roots.to(at::kComplexFloat)));
    EXPECT_LE((at::abs(exact.roots) - 1).abs().max().item<double>(), 2e-16);
    const auto order = plan.order.to(at::kLong);
    EXPECT_TRUE(order[0].index_select(0, order[1]).equal(at::arange(90)));
}

/// Count the conflicts of one launch.
/// @param first_byte  of the elements in shared memory
template <class Operation>
emulation::BankCounter::Pass counted(std::size_t value_bytes, std::size_t first_byte,
                                     const Operation& operation) {
    const emulation::EmulatedDevice device(0);
    const emulation::BankCounter counter(value_bytes, first_byte);
    operation();
    return counter.total();
}

TEST(FftPlan, RowsHaveFewBankConflicts) {
    // 6300 and 1575: the default event; others: powers of 2 have the most conflicts.
    const std::map<std::int64_t, double> ways = {{1575, 1.45}, {3000, 1.55}, {3375, 1.4},  {4725, 1.4},
                                                 {4800, 1.55}, {5000, 1.55}, {6000, 1.6},  {6300, 1.45},
                                                 {10000, 1.8}, {2400, 1.5},  {3072, 2.5},  {3200, 1.85},
                                                 {4096, 4.4},  {4608, 2.5},  {6144, 3.65}, {6400, 2.2}};
    for (const auto& [padded, limit] : ways) {
        const auto waveform = at::randint(0, 4096, {1, padded}, at::kShort);
        const auto spectrum = at::randn({1, 1, padded / 2 + 1}, at::kComplexFloat);
        const auto there = counted(8, kernels::reduction_words * 8, [&, padded = padded] {
            return kernels::waveform_spectrum(waveform, padded, at::kFloat, {});
        });
        const auto back = counted(8, 0, [&, padded = padded] {
            return kernels::apply_time_filter(spectrum, spectrum, padded, padded);
        });
        EXPECT_LE(there.ways(), limit) << padded;
        EXPECT_LE(back.ways(), limit) << padded;
    }
}

TEST(FftPlan, TilesHaveFewBankConflicts) {
    for (const std::int64_t channels : {480, 500, 800, 960, 1000, 1024, 1250, 1600}) {
        const auto spectrum = at::randn({1, channels, 1}, at::kComplexFloat);
        const auto seen = counted(8, 0, [&] { return kernels::deconvolve(spectrum, spectrum, channels); });
        EXPECT_LE(seen.ways(), 1.25) << channels;
    }
}

TEST(InterpolateRowsKernel, GivesTheBitsOfTheCpu) {
    at::manual_seed(5);
    for (const auto type : {at::kComplexFloat, at::kComplexDouble}) {
        for (const std::int64_t channels : {1, 2, 3, 40}) {
            for (const bool cyclic : {false, true}) {
                // Rows at a larger distance, as from waveform_spectrum().
                const auto spectrum = at::randn({2, channels, 70}, type).narrow(2, 0, 66);
                const auto good = at::rand({2, channels}) < 0.6;
                auto expected = spectrum.clone(), seen = spectrum;
                interpolate_rows(expected, good, cyclic);
                emulated([&] {
                    kernels::interpolate_rows(seen, good, cyclic);
                    return seen;
                });
                EXPECT_TRUE(seen.equal(expected)) << channels << ' ' << cyclic;
                // Frequencies that are not adjacent.
                const auto apart = at::randn({2, 66, channels}, type).transpose(1, 2);
                expected = apart.clone();
                interpolate_rows(expected, good, cyclic);
                emulated([&] { return kernels::interpolate_rows(apart, good, cyclic), apart; });
                EXPECT_TRUE(apart.equal(expected)) << channels << ' ' << cyclic;
            }
        }
    }
}

void expect_spectrum(const at::Tensor& waveforms, std::int64_t padded, at::ScalarType type,
                     const std::optional<at::Tensor>& good = std::nullopt) {
    const auto seen = emulated([&] { return kernels::waveform_spectrum(waveforms, padded, type, good); });
    const auto reference = waveform_spectrum_composite(waveforms, padded, at::kDouble, good);
    expect_close(seen, waveform_spectrum_composite(waveforms, padded, type, good), reference,
                 "waveform_spectrum " + std::to_string(padded));
}

TEST(WaveformSpectrumKernel, EveryLength) {
    at::manual_seed(1);
    for (const std::int64_t padded : lengths) {
        const at::Tensor waveforms = at::randint(800, 1000, {1, padded - padded / 4}, at::kShort);
        expect_spectrum(waveforms, padded, padded % 4 == 0 ? at::kDouble : at::kFloat);
        expect_spectrum(waveforms, 2 * padded, padded % 3 == 0 ? at::kDouble : at::kFloat);
    }
    expect_spectrum(at::randint(800, 1000, {1, 6000}, at::kShort), 6300, at::kFloat);
}

TEST(WaveformSpectrumKernel, EveryTypeOfSampleAndResult) {
    at::manual_seed(2);
    for (const auto sample : {at::kShort, at::kFloat, at::kDouble}) {
        for (const auto result : {at::kFloat, at::kDouble}) {
            expect_spectrum((at::randn({4, 333}, at::kDouble) * 1000 + 2350.1).to(sample), 400, result);
        }
    }
}

TEST(WaveformSpectrumKernel, TheMedianIsThatOfTheCpu) {
    constexpr std::int16_t lowest = -32768, highest = 32767;
    for (const std::int64_t ticks : {1, 2, 3, 64, 257}) {
        for (const std::int16_t value : {lowest, highest, std::int16_t{0}, std::int16_t{-1}}) {
            expect_spectrum(at::full({1, ticks}, value, at::kShort), 270, at::kFloat);
        }
        at::Tensor extremes = at::full({1, ticks}, lowest, at::kShort);
        extremes.narrow(1, ticks / 2, ticks - ticks / 2).fill_(highest);
        expect_spectrum(extremes, 270, at::kFloat);
    }
}

TEST(WaveformSpectrumKernel, BadChannelsAreZeroForAnySamples) {
    at::manual_seed(3);
    at::Tensor waveforms = at::randn({3, 5, 70});
    waveforms[1][2].fill_(std::numeric_limits<float>::quiet_NaN());
    at::Tensor good = at::rand({3, 5}) < 0.6;
    good[1][2] = false;
    for (const std::int64_t padded : {100, 105}) {
        expect_spectrum(waveforms, padded, at::kFloat, good);
        const auto none = emulated([&] {
            return kernels::waveform_spectrum(waveforms, padded, at::kFloat, at::zeros({3, 5}, at::kBool));
        });
        EXPECT_TRUE(none.equal(at::zeros_like(none)));
    }
}

TEST(WaveformSpectrumKernel, SeparateRowsAndRowsOutsideSharedMemory) {
    at::manual_seed(4);
    const at::Tensor wide = at::randint(0, 4096, {2, 3, 200}, at::kShort);
    expect_spectrum(wide.narrow(2, 50, 101), 128, at::kFloat);
    expect_spectrum(wide.slice(2, 1, 200, 3), 70, at::kFloat);
    expect_spectrum(wide.transpose(0, 1), 200, at::kFloat);
    const auto with_shared_bytes = [&](std::int64_t bytes) {
        const emulation::EmulatedDevice device(0, 1 << 30, bytes);
        return kernels::waveform_spectrum(wide, 256, at::kFloat, std::nullopt);
    };
    // 384 bytes for reductions and 8 for each of 128 pairs of samples; 400 for the row.
    const auto staged = with_shared_bytes(384 + 1024 + 400);
    EXPECT_TRUE(same_bytes(with_shared_bytes(384 + 1024), staged));
    const auto by_aten = waveform_spectrum_composite(wide, 256, at::kFloat, std::nullopt);
    EXPECT_FALSE(same_bytes(staged, by_aten));
    EXPECT_TRUE(same_bytes(with_shared_bytes(384 + 1023), by_aten));
}

TEST(WaveformSpectrumKernel, NothingToDo) {
    for (const Sizes& shape : {Sizes{0, 10}, Sizes{4, 0}}) {
        const auto seen = emulated(
            [&] { return kernels::waveform_spectrum(at::zeros(shape, at::kShort), 12, at::kFloat, {}); });
        EXPECT_TRUE(seen.equal(at::zeros({shape[0], 7}, at::kComplexFloat)));
    }
}

void expect_deconvolved(const at::Tensor& spectrum, const at::Tensor& kernel) {
    const auto seen = emulated([&] { return kernels::deconvolve(spectrum, kernel, kernel.size(1)); });
    const auto reference =
        deconvolve_composite(spectrum.to(at::kComplexDouble), kernel.to(at::kComplexDouble), kernel.size(1));
    expect_close(seen, deconvolve_composite(spectrum, kernel, kernel.size(1)), reference,
                 "deconvolve " + std::to_string(kernel.size(1)));
}

TEST(DeconvolveKernel, EveryCountOfChannels) {
    at::manual_seed(5);
    for (const std::int64_t channels : lengths) {
        const auto type = channels % 4 == 0 ? at::kComplexDouble : at::kComplexFloat;
        expect_deconvolved(at::randn({2, channels - channels / 5, 3}, type),
                           at::randn({2, channels, 3}, type));
    }
    expect_deconvolved(at::randn({1, 480, 5}, at::kComplexDouble),
                       at::randn({1, 500, 5}, at::kComplexDouble));
    expect_deconvolved(at::randn({1, 800, 9}, at::kComplexFloat), at::randn({1, 800, 9}, at::kComplexFloat));
}

TEST(DeconvolveKernel, EveryCountOfFrequenciesAndSharedKernels) {
    at::manual_seed(6);
    for (const std::int64_t frequencies : {1, 7, 8, 9, 33}) {
        const auto spectrum = at::randn({3, 20, frequencies}, at::kComplexFloat);
        expect_deconvolved(spectrum, at::randn({1, 24, frequencies}, at::kComplexFloat));
        expect_deconvolved(spectrum, at::randn({3, 20, frequencies}, at::kComplexFloat));
    }
    const auto wide = at::randn({3, 20, 34}, at::kComplexFloat);
    expect_deconvolved(wide.narrow(2, 3, 20), wide.narrow(2, 5, 20));
    expect_deconvolved(wide.slice(2, 0, 34, 2), wide.slice(2, 1, 34, 2));
}

TEST(DeconvolveKernel, HalfOfASymmetricKernel) {
    at::manual_seed(8);
    for (const std::int64_t channels : {1, 2, 3, 8, 15, 20}) {
        const auto spectrum = at::randn({2, channels, 5}, at::kComplexFloat);
        const auto half = at::randn({1, channels / 2 + 1, 5}, at::kComplexFloat);
        std::vector<at::Tensor> rows;
        for (std::int64_t row = 0; row < channels; ++row) {
            rows.push_back(half.select(1, std::min(row, channels - row)));
        }
        const auto whole = at::stack(rows, 1);
        const auto seen = emulated([&] { return kernels::deconvolve(spectrum, half, channels); });
        EXPECT_TRUE(
            same_bytes(seen, emulated([&] { return kernels::deconvolve(spectrum, whole, channels); })))
            << channels;
        EXPECT_TRUE(same_bytes(deconvolve_composite(spectrum, half, channels),
                               deconvolve_composite(spectrum, whole, channels)))
            << channels;
    }
}

TEST(DeconvolveKernel, OtherPrimesManyChannelsAndNoData) {
    at::manual_seed(7);
    for (const std::int64_t channels : {11, 3750}) { // 3632 rows of 64 bytes fit into 227 KiB
        const auto spectrum = at::randn({1, channels, 2}, at::kComplexFloat);
        const auto kernel = at::randn({1, channels, 2}, at::kComplexFloat);
        EXPECT_TRUE(
            same_bytes(emulated([&] { return kernels::deconvolve(spectrum, kernel, kernel.size(1)); }),
                       deconvolve_composite(spectrum, kernel, kernel.size(1))));
    }
    const auto kernel = at::randn({1, 4, 2}, at::kComplexFloat);
    EXPECT_EQ(emulated([&] { return kernels::deconvolve(kernel.narrow(1, 0, 0), kernel, 4); }).sizes(),
              (at::IntArrayRef{1, 0, 2}));
}

void expect_filtered(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                     std::int64_t samples) {
    const auto seen = emulated([&] { return kernels::apply_time_filter(spectrum, filter, length, samples); });
    const auto reference = apply_time_filter_composite(spectrum.to(at::kComplexDouble),
                                                       filter.to(at::kComplexDouble), length, samples);
    expect_close(seen, apply_time_filter_composite(spectrum, filter, length, samples), reference,
                 "apply_time_filter " + std::to_string(length));
}

TEST(TimeFilterKernel, EveryLength) {
    at::manual_seed(8);
    for (const std::int64_t half : lengths) {
        for (const std::int64_t length : {half, 2 * half}) {
            const auto type = half % 4 == 0 ? at::kComplexDouble : at::kComplexFloat;
            // As with fewer samples than ticks: the last frequency of the filtered spectrum is not real.
            const auto spectrum = at::randn({2, 1, length + 1}, type);
            expect_filtered(spectrum, at::randn({2, 1, length / 2 + 1}, type), length, length - length / 4);
        }
    }
    expect_filtered(at::randn({1, 2, 3152}, at::kComplexFloat).narrow(2, 0, 3151),
                    at::randn({1, 1, 3151}, at::kComplexFloat), 6300, 6000);
}

TEST(TimeFilterKernel, EveryCropAndLayout) {
    at::manual_seed(9);
    const auto spectrum = at::randn({2, 3, 40}, at::kComplexFloat);
    for (const std::int64_t length : {30, 35}) {
        const auto filter = at::randn({1, 1, length / 2 + 1}, at::kComplexFloat);
        for (const std::int64_t samples : {0, 1, 2, 29, 30}) {
            expect_filtered(spectrum, filter, length, samples);
        }
        expect_filtered(spectrum.slice(2, 0, 40, 2), filter, length, length);
        expect_filtered(spectrum.narrow(1, 1, 2), filter, length, length);
        expect_filtered(spectrum.narrow(1, 0, 0), filter, length, length);
    }
    const auto odd = at::randn({1, 2, 12}, at::kComplexFloat); // by ATen: 22 = 2 x 11
    const auto filter = at::randn({1, 1, 12}, at::kComplexFloat);
    EXPECT_TRUE(same_bytes(emulated([&] { return kernels::apply_time_filter(odd, filter, 22, 20); }),
                           apply_time_filter_composite(odd, filter, 22, 20)));
}

TEST(TimeFilterKernel, EmptyRowsStayEmpty) {
    at::manual_seed(10);
    auto spectrum = at::randn({1, 4, 53}, at::kComplexFloat);
    spectrum[0][1].zero_();
    for (const std::int64_t length : {104, 105}) {
        const auto filter = at::randn({1, 1, length / 2 + 1}, at::kComplexFloat);
        const auto seen =
            emulated([&] { return kernels::apply_time_filter(spectrum, filter, length, length); });
        EXPECT_TRUE(seen[0][1].equal(at::zeros({length})));
        EXPECT_GT(rms(seen[0][2]), 0);
    }
}

} // namespace
} // namespace spng::testing
