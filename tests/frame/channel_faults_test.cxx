// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_faults.h"

#include "spng/core/error.h"
#include "tests/core/nothing_waits.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/round.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace spng {
namespace {

constexpr std::int64_t channels = 40;
constexpr std::int64_t ticks = 6000;
constexpr double sigma = 12;

enum Row : std::int64_t {
    constant = 3,
    weak,
    noisy,
    along_drift,
    late_start,
    not_good,
    louder,
    pulses,
};

at::Tensor all_good(std::int64_t views = 1) {
    return at::ones({views, channels}, at::kBool);
}

/// Noise with faults in the rows of the names, int16 (1, channel, tick).
at::Tensor frame(double scale = 1) {
    at::manual_seed(20261125);
    auto waveforms = at::randn({1, channels, ticks}, at::kDouble) * sigma * scale;
    auto rows = waveforms[0];
    rows[constant].zero_();
    rows[weak] *= 0.3;
    rows[noisy] *= 3;
    rows[along_drift].slice(0, 700, 5000) += at::randn({4300}, at::kDouble) * 80 + 500;
    rows[late_start].slice(0, 0, 2400).zero_();
    rows[not_good] *= 10;
    rows[louder] *= 1.6;
    for (std::int64_t start = 100; start < ticks; start += 150) {
        rows[pulses].slice(0, start, start + 10) += 400;
    }
    return waveforms.add(2000).round().to(at::kShort);
}

at::Tensor good_rows() {
    auto good = all_good();
    good[0][not_good] = false;
    return good;
}

/// Return the faults by row.
std::map<std::int64_t, ChannelFault> found(const at::Tensor& waveforms, const at::Tensor& good,
                                           const ExpectedNoise& expected = {},
                                           const ChannelFaultRule& rule = {}) {
    at::Tensor faults;
    {
        const testing::NothingWaits watched;
        faults = channel_faults(waveforms, good, expected, rule);
    }
    std::map<std::int64_t, ChannelFault> rows;
    for (std::int64_t row = 0; row < faults.numel(); ++row) {
        const auto fault = static_cast<ChannelFault>(faults.const_data_ptr<std::uint8_t>()[row]);
        if (fault != ChannelFault::none) {
            rows[row] = fault;
        }
    }
    return rows;
}

const std::map<std::int64_t, ChannelFault> three_faults{
    {constant, ChannelFault::dead}, {weak, ChannelFault::dead}, {noisy, ChannelFault::noisy}};

ExpectedNoise expecting(double rms) {
    return {at::full({1, channels}, rms, at::kDouble), {}, {}};
}

TEST(ChannelFaults, DeadAndNoisyChannelsAreFoundAndTracksAreNot) {
    EXPECT_EQ(found(frame(), good_rows()), three_faults);
    EXPECT_EQ(found(frame(), good_rows(), expecting(sigma)), three_faults);
    EXPECT_EQ(found(frame().to(at::kFloat), good_rows(), expecting(sigma)), three_faults);
}

TEST(ChannelFaults, NoiseOfTheWholeViewIsNoFaultWithinTheLevel) {
    auto no_weak = three_faults, no_noisy = three_faults;
    no_weak.erase(weak);
    no_noisy.erase(noisy);
    EXPECT_EQ(found(frame(1.5), good_rows(), expecting(sigma)), three_faults);
    EXPECT_EQ(found(frame(1.9), good_rows(), expecting(sigma)), no_weak);  // 0.57 times the expected noise
    EXPECT_EQ(found(frame(0.6), good_rows(), expecting(sigma)), no_noisy); // 1.8 times
    // Five times the expected noise, of which the level explains a factor of two.
    const auto all = found(frame(5), good_rows(), expecting(sigma));
    EXPECT_EQ(all.size(), channels - 3);
    EXPECT_EQ(all.at(constant), ChannelFault::dead);
    EXPECT_FALSE(all.contains(not_good));
    EXPECT_FALSE(all.contains(weak)); // 1.5 times the expected noise
    EXPECT_FALSE(all.contains(late_start));
    EXPECT_EQ(found(frame(5), good_rows()), three_faults);
}

TEST(ChannelFaults, MostChannelsOfAViewDoNotAccuseTheOthers) {
    at::manual_seed(7);
    const auto all = at::randn({1, channels, ticks}, at::kDouble) * sigma;
    auto quiet = all.clone(), loud = all.clone();
    quiet[0].slice(0, 8) *= 4.7 / 14; // electronics with a low gain
    loud[0].slice(0, 8) *= 1.9;
    const auto low_gain = found(quiet, all_good(), expecting(sigma), {.shared_noise = SharedNoise::removed});
    EXPECT_TRUE(low_gain.empty());
    EXPECT_TRUE(found(loud, all_good(), expecting(sigma), {.min_rms = 0.95, .max_level = 3}).empty());
    for (const auto& [row, fault] : found(quiet, all_good(), expecting(sigma))) {
        EXPECT_EQ(fault, ChannelFault::dead) << row;
        EXPECT_GE(row, 8);
    }
}

TEST(ChannelFaults, SharedNoiseDecidesWhatIsFound) {
    using Faults = std::map<std::int64_t, ChannelFault>;
    auto expected = expecting(sigma);
    EXPECT_EQ(found(frame(), good_rows(), expected, {.shared_noise = SharedNoise::kept}),
              (Faults{{constant, ChannelFault::dead}, {weak, ChannelFault::dead}}));
    EXPECT_EQ(found(frame(), good_rows(), expected, {.shared_noise = SharedNoise::removed}),
              (Faults{{constant, ChannelFault::dead}, {noisy, ChannelFault::noisy}}));
    // The lower limit of a channel counts before the subtraction, the upper one after it.
    expected.low = at::full({1, channels}, 13, at::kDouble);
    expected.high = at::full({1, channels}, 11, at::kDouble);
    for (const auto& [row, fault] :
         found(frame(), good_rows(), expected, {.shared_noise = SharedNoise::kept})) {
        EXPECT_EQ(fault, ChannelFault::dead) << row;
    }
    const auto after = found(frame(), good_rows(), expected, {.shared_noise = SharedNoise::removed});
    EXPECT_EQ(after.at(20), ChannelFault::noisy);
    EXPECT_FALSE(after.contains(weak));
}

TEST(ChannelFaults, WireLengthsCount) {
    auto waveforms = frame().to(at::kDouble);
    auto expected = expecting(sigma);
    for (std::int64_t row = 20; row < 30; ++row) { // short wires with a third of the noise
        waveforms[0][row].sub_(2000).div_(3).add_(2000);
        expected.rms[0][row] = sigma / 3;
    }
    EXPECT_EQ(found(waveforms, good_rows(), expected), three_faults);
    waveforms[0][25].sub_(2000).mul_(3).add_(2000); // that of a long wire
    auto with_short = three_faults;
    with_short[25] = ChannelFault::noisy;
    EXPECT_EQ(found(waveforms, good_rows(), expected), with_short);
}

TEST(ChannelFaults, LimitsOfAChannelReplaceTheRule) {
    auto expected = expecting(sigma);
    const double none = std::numeric_limits<double>::quiet_NaN();
    expected.low = at::full({1, channels}, none, at::kDouble);
    expected.high = expected.low.clone();
    expected.low[0][weak] = 1; // 3.6 is enough
    expected.high[0][noisy] = 50;
    expected.high[0][12] = 10;
    expected.low[0][13] = 13;
    EXPECT_EQ(found(frame(), good_rows(), expected),
              (std::map<std::int64_t, ChannelFault>{
                  {constant, ChannelFault::dead}, {12, ChannelFault::noisy}, {13, ChannelFault::dead}}));
}

TEST(ChannelFaults, ViewsHaveTheirOwnLevel) {
    const auto two = at::stack({frame()[0], frame(3)[0]});
    const auto good = at::stack({good_rows()[0], good_rows()[0]});
    const auto faults = found(two, good);
    EXPECT_EQ(faults.size(), 6);
    EXPECT_EQ(faults.at(channels + noisy), ChannelFault::noisy);
}

TEST(ChannelFaults, ViewWithoutAnyNoiseIsDead) {
    const auto flat = at::full({1, channels, ticks}, 7, at::kShort);
    EXPECT_EQ(found(flat, all_good()).size(), channels);
    EXPECT_EQ(found(flat, all_good(), expecting(sigma)).size(), channels);
    EXPECT_TRUE(found(flat, at::zeros({1, channels}, at::kBool)).empty());
}

TEST(ChannelFaults, ShortReadouts) {
    EXPECT_EQ(found(frame().slice(2, 0, 600), good_rows()).at(noisy), ChannelFault::noisy); // one block
    EXPECT_TRUE(found(frame().slice(2, 0, 60), good_rows()).empty());
}

TEST(ChannelFaults, RejectsOtherShapes) {
    EXPECT_THROW(channel_faults(frame()[0], all_good(), {}), Error);
    EXPECT_THROW(channel_faults(frame(), all_good(2), {}), Error);
    EXPECT_THROW(channel_faults(frame(), all_good(), {at::ones({1, 3}), {}, {}}), Error);
}

TEST(ChannelFaults, MasksListEachChannelOnce) {
    ChannelMasks masks{{"bad", {{12, 5, 9}, {30, 0, 4}}}, {"nan", {{1, 0, 100}}}};
    const auto ids = at::tensor({11, 12, 13, 14}, at::kInt).view({1, 4});
    const auto faults = at::tensor({2, 1, 0, 2}, at::kByte).view({1, 4});
    add_faults(masks, ids, faults, {11, 12, 13}, 100); // 14 is in another frame
    EXPECT_EQ(masks["bad"], (std::vector<ChannelRange>{{11, 0, 100}, {12, 0, 100}, {30, 0, 4}}));
    EXPECT_EQ(masks["noisy"], (std::vector<ChannelRange>{{11, 0, 100}}));
    EXPECT_EQ(masks["nan"], (std::vector<ChannelRange>{{1, 0, 100}}));
}

} // namespace
} // namespace spng
