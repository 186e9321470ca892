// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/channel_pulses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace spng {
namespace {

constexpr std::int64_t ticks = 6000;

std::vector<double> noise(double rms) {
    std::mt19937 generator(7);
    std::normal_distribution<double> normal(0, rms);
    std::vector<double> samples(ticks);
    for (double& sample : samples) {
        sample = normal(generator);
    }
    return samples;
}

/// Add a Gaussian with a sigma of 2.5 ticks.
void add_pulse(std::vector<double>& samples, std::int64_t tick, double height) {
    for (std::int64_t i = tick - 12; i <= tick + 12; ++i) {
        const double distance = static_cast<double>(i - tick) / 2.5;
        samples[static_cast<std::size_t>(i)] += height * std::exp(-0.5 * distance * distance);
    }
}

TEST(ChannelPulses, NoiseOfIntegersIsFinerThanACount) {
    for (const double rms : {2.5, 3.4, 11.0}) {
        const auto samples = noise(rms);
        std::vector<std::int16_t> counts;
        for (const double sample : samples) {
            counts.push_back(static_cast<std::int16_t>(std::lround(sample + 2000.3)));
        }
        const auto level = channel_level(counts.data(), ticks);
        EXPECT_NEAR(level.rms, std::hypot(rms, std::sqrt(1 / 12.0)), 0.08 * rms);
        EXPECT_NEAR(level.median, 2000.3, 0.1 * rms);
    }
}

TEST(ChannelPulses, PulsesHardlyChangeTheNoise) {
    auto samples = noise(5);
    for (std::int64_t tick = 100; tick < 5900; tick += 300) {
        add_pulse(samples, tick, 500);
    }
    EXPECT_NEAR(channel_level(samples.data(), ticks).rms, 5, 0.6);
}

TEST(ChannelPulses, AConstantChannelHasNoNoise) {
    const std::vector<float> samples(ticks, 900.f);
    EXPECT_EQ(channel_level(samples.data(), ticks).rms, 0);
    EXPECT_EQ(channel_level(samples.data(), ticks).median, 900);
    EXPECT_EQ(channel_level(samples.data(), 0).rms, 0);
}

TEST(ChannelPulses, PolarityAndOrderOfLobes) {
    auto samples = noise(1);
    add_pulse(samples, 1000, 100);
    add_pulse(samples, 2000, -100);
    add_pulse(samples, 3000, 100);
    add_pulse(samples, 3010, -100);
    add_pulse(samples, 4000, 12); // too small
    add_pulse(samples, 20, 100);  // may be cut off by the begin of the readout
    const auto pulses = find_pulses(samples.data(), ticks, 0, 1);
    ASSERT_EQ(pulses.size(), 3u);
    EXPECT_NEAR(pulses[0].polarity, 1, 1e-9);
    EXPECT_NEAR(pulses[1].polarity, -1, 1e-9);
    EXPECT_NEAR(pulses[2].polarity, 0, 0.05);
    EXPECT_EQ(pulses[0].lobe_distance, 0);
    EXPECT_NEAR(static_cast<double>(pulses[2].lobe_distance), 10, 1.5);
    ASSERT_EQ(pulses[0].shape.size(), static_cast<std::size_t>(shape_ticks));
    EXPECT_NEAR(pulses[0].shape[shape_peak], 100, 4);
}

TEST(ChannelPulses, AShapeIsKeptOfSinglePulsesOnly) {
    auto samples = noise(1);
    add_pulse(samples, 1000, 100);
    add_pulse(samples, 1030, 100);
    const auto pulses = find_pulses(samples.data(), ticks, 0, 1);
    ASSERT_EQ(pulses.size(), 2u);
    EXPECT_TRUE(pulses[0].shape.empty());
    EXPECT_TRUE(pulses[1].shape.empty());
}

TEST(ChannelPulses, AutocorrelationOfNoiseIsThatBetweenPulses) {
    const auto white = noise(3);
    std::vector<double> samples(ticks); // of a moving average, whose autocorrelation is 1, 0.5, 0
    for (std::size_t i = 1; i < samples.size(); ++i) {
        samples[i] = white[i] + white[i - 1];
    }
    for (std::int64_t tick = 100; tick < 5900; tick += 300) {
        add_pulse(samples, tick, 500);
    }
    const double sigma = 3 * std::sqrt(2.0);
    const auto products = noise_products(samples.data(), ticks, 0, sigma);
    EXPECT_EQ(products.stretches, 8u);
    EXPECT_NEAR(products.sum[0] / 8, 1, 0.2);
    const auto autocorrelation = products.autocorrelation();
    EXPECT_EQ(autocorrelation[0], 1);
    EXPECT_NEAR(autocorrelation[1], 0.5, 0.1);
    EXPECT_NEAR(autocorrelation[2], 0, 0.15);
    EXPECT_EQ(NoiseProducts{}.autocorrelation(), Autocorrelation{});
}

TEST(ChannelPulses, AChannelThatOscillatesHasFewVotes) {
    std::vector<double> samples(ticks);
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        samples[static_cast<std::size_t>(tick)] = tick % 40 < 4 ? 200 : 0;
    }
    EXPECT_EQ(find_pulses(samples.data(), ticks, 0, 1).size(), 16u);
}

} // namespace
} // namespace spng
