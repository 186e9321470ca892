// SPDX-License-Identifier: Apache-2.0
// Compositions of ATen operations bound their temporaries, and their chunks give the results of the CPU's operators.

#include "spng/core/bit_words.h"
#include "spng/core/row_chunks.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/nodes/coincidence/coincidence.h"
#include "spng/nodes/decon/baseline.h"
#include "spng/nodes/noise/coherent_noise.h"
#include "spng/nodes/roi/long_pulses.h"
#include "spng/nodes/roi/rebaseline.h"
#include "spng/nodes/roi/region_growth.h"
#include "spng/nodes/roi/region_seeds.h"
#include "spng/nodes/roi/robust_rms.h"
#include "tests/core/device_composite.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace spng {
namespace {

using instrument::AllocationScope;
using testing::call_composite;

/// Call a composition and require its temporaries to stay within the limit.
template <class Result>
Result within(std::int64_t limit, const std::function<Result()>& composition, const char* name) {
    instrument::count_cpu_allocations();
    const AllocationScope scope(instrument::AllocationScope::Reports::none);
    Result result = composition();
    std::int64_t kept = 0;
    if constexpr (std::is_same_v<Result, at::Tensor>) {
        kept = static_cast<std::int64_t>(result.nbytes());
    }
    EXPECT_LE(scope.cpu().peak - kept, limit) << name;
    EXPECT_GT(scope.cpu().peak - kept, limit / 8) << name; // it was measured, and chunks are not too small
    return result;
}

at::Tensor composed(const char* name, const std::function<at::Tensor()>& composition) {
    return within<at::Tensor>(composition_bytes, composition, name);
}

/// As many rows as in a group of two views of ProtoDUNE-HD, and quarter-rate samples, in odd numbers.
class CompositionMemory : public ::testing::Test {
protected:
    static constexpr std::int64_t rows = 1601, ticks = 1501;
    void SetUp() override { at::manual_seed(7); }
    at::Tensor mask(double fraction) const { return at::rand({rows, ticks}).lt(fraction); }
    at::Tensor waveforms() const { return at::randn({rows, ticks}); }
};

TEST_F(CompositionMemory, PackedMasks) {
    const auto bits = mask(0.3);
    const auto packed = composed(
        "pack", [&] { return call_composite<at::Tensor, const at::Tensor&>("spng::pack_ticks", bits); });
    EXPECT_TRUE(packed.equal(pack_ticks(bits)));
    const auto unpacked = composed("unpack", [&] {
        return call_composite<at::Tensor, const at::Tensor&, std::int64_t>("spng::unpack_ticks", packed,
                                                                           ticks);
    });
    EXPECT_TRUE(unpacked.equal(bits));
}

TEST_F(CompositionMemory, Regions) {
    const auto seeds = pack_ticks(mask(0.01)), level = pack_ticks(mask(0.6)), runs = pack_ticks(mask(0.9));
    const auto grown = composed("grow", [&] {
        return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, std::int64_t, std::int64_t,
                              std::int64_t>("spng::grow_regions", seeds, level, ticks, 3, 5);
    });
    EXPECT_TRUE(grown.equal(grow_packed_regions(seeds, level, ticks, 3, 5)));
    const auto confirmed = composed("confirm", [&] {
        return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                              std::int64_t, double>("spng::confirmed_runs", runs, level, seeds, ticks, 0.6);
    });
    EXPECT_TRUE(confirmed.equal(confirmed_runs(runs, level, seeds, ticks, 0.6)));
}

TEST_F(CompositionMemory, Waveforms) {
    const auto signal = waveforms();
    const auto regions = pack_ticks(mask(0.5));
    for (const char* name : {"spng::apply_regions_linear", "spng::apply_regions_restored"}) {
        const auto applied = composed(name, [&] {
            return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, std::int64_t>(
                name, signal, regions, 1);
        });
        const auto expected = std::string(name).ends_with("linear")
                                  ? apply_regions_linear(signal, regions, 1)
                                  : apply_regions_restored(signal, regions, 1);
        EXPECT_TRUE(applied.allclose(expected, 1e-5, 1e-5)) << name;
    }
    const auto zero = at::zeros({rows}), one = at::ones({rows});
    const auto sums = composed("running sum", [&] {
        return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Tensor&, double,
                              at::IntArrayRef>("spng::clipped_running_sum", signal, zero, one, 3, {51});
    });
    EXPECT_TRUE(sums.allclose(clipped_running_sum(signal, zero, one, 3, {51}), 1e-5, 1e-5));
}

TEST_F(CompositionMemory, Noise) {
    const auto signal = waveforms();
    using Noise = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
    const auto noise = within<Noise>(
        composition_bytes,
        [&] { return call_composite<Noise, const at::Tensor&, double>("spng::robust_noise", signal, 5); },
        "noise");
    const ChannelNoise expected = robust_noise(signal, 5);
    EXPECT_TRUE(std::get<0>(noise).equal(expected.low));
    EXPECT_TRUE(std::get<1>(noise).equal(expected.median));
    EXPECT_TRUE(std::get<2>(noise).allclose(expected.rms));
}

TEST_F(CompositionMemory, Baseline) {
    const auto adc = at::randint(1000, 3000, {rows, 3 * ticks}, at::kShort);
    const auto good = at::arange(rows).remainder(17).ne(0);
    const auto subtracted = composed("baseline", [&] {
        return subtract_baseline_and_pad_composite(adc, 3 * ticks + 5, at::kFloat, good);
    });
    EXPECT_TRUE(subtracted.equal(subtract_baseline_and_pad(adc, 3 * ticks + 5, at::kFloat, good)));
}

TEST_F(CompositionMemory, Coincidence) {
    constexpr std::int64_t cells = 300;
    const auto packed = pack_ticks(mask(0.3));
    const auto table = make_coincidence_table(at::arange(0, cells * (rows + 1), cells, at::kInt),
                                              at::randint(rows, {rows * cells, 2}, at::kInt), rows);
    const auto crossing = composed("coincidence", [&] {
        return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                              std::int64_t>("spng::coincidence", packed, table.offsets, table.pairs,
                                            table.max_cells);
    });
    EXPECT_TRUE(crossing.equal(coincidence(packed, table)));
}

TEST_F(CompositionMemory, CoherentNoise) {
    constexpr std::int64_t groups = 40, members = 40;
    const auto adc = at::randn({groups * members, ticks}).mul(10);
    const auto good = at::ones({groups * members}, at::kBool);
    const auto members_of = at::arange(groups * members).view({groups, members});
    const CoherentNoiseRule rule;
    const auto cleaned = within<at::Tensor>(
        std::max(composition_bytes, coherent_noise_buffers * static_cast<std::int64_t>(adc.nbytes())),
        [&] {
            return call_composite<at::Tensor, const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                  const at::Tensor&, double, double, std::int64_t, std::int64_t, double,
                                  double>("spng::remove_coherent_noise", adc, good, members_of,
                                          at::zeros({groups * members, 1, 2}, at::kInt), rule.threshold,
                                          rule.common_threshold, rule.half_smoothing, rule.padding,
                                          rule.min_fraction, rule.max_noise);
        },
        "coherent noise");
    EXPECT_TRUE(cleaned.allclose(remove_coherent_noise(adc, good, members_of, rule), 1e-4, 1e-3));
}

} // namespace
} // namespace spng
