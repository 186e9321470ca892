// SPDX-License-Identifier: Apache-2.0
// Sparse charge against integrals of Gaussians, computed here in float64 and bin by bin.

#include "spng/nodes/sim/signal/charge_binning.h"

#include <ATen/Parallel.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace spng::test {
namespace {

/// Return the image as a dense array (slot, row, tick).
class Dense {
public:
    Dense(const ChargeImage& image, const ChargeBinningConfig& config)
        : m_rows(config.rows()), m_ticks(config.ticks),
          m_values((image.first_run.size() - 1) * static_cast<std::size_t>(m_rows * m_ticks)) {
        for (std::size_t slot = 0; slot + 1 < image.first_run.size(); ++slot) {
            for (auto at = image.first_run[slot]; at < image.first_run[slot + 1]; ++at) {
                const ChargeRun& run = image.runs[static_cast<std::size_t>(at)];
                for (std::int32_t i = 0; i < run.length; ++i) {
                    at_(static_cast<std::int64_t>(slot), run.row, run.tick + i) +=
                        image.electrons[static_cast<std::size_t>(run.offset) + i];
                }
            }
        }
    }

    double at(std::int64_t slot, std::int64_t row, std::int64_t tick) const {
        return const_cast<Dense*>(this)->at_(slot, row, tick);
    }
    double sum() const {
        double total = 0;
        for (const double value : m_values) {
            total += value;
        }
        return total;
    }

private:
    double& at_(std::int64_t slot, std::int64_t row, std::int64_t tick) {
        return m_values[static_cast<std::size_t>((slot * m_rows + row) * m_ticks + tick)];
    }
    std::int64_t m_rows, m_ticks;
    std::vector<double> m_values;
};

double gauss_between(double low, double high, double centre, double sigma) {
    const auto cumulative = [&](double x) {
        return 0.5 * (1 + std::erf((x - centre) / sigma / std::sqrt(2.0)));
    };
    return cumulative(high) - cumulative(low);
}

ChargeSpots one(double wire, double wire_sigma, double tick, double tick_sigma, double electrons) {
    return {{wire}, {wire_sigma}, {tick}, {tick_sigma}, {electrons}};
}

TEST(ChargeBinning, is_the_integral_of_a_gaussian) {
    const ChargeBinningConfig config{
        .bins = 1, .interpolate = false, .nsigma = 8, .first_tick = 0, .ticks = 60};
    const ChargeImage image = bin_charge(one(10.3, 0.9, 30.2, 2.5, 5000), std::vector<char>(21, 1), config);
    const Dense dense(image, config);
    for (std::int64_t slot = 5; slot < 16; ++slot) {
        for (std::int64_t tick = 20; tick < 41; ++tick) {
            const double expected = 5000 * gauss_between(slot - 0.5, slot + 0.5, 10.3, 0.9) *
                                    gauss_between(tick, tick + 1.0, 30.2, 2.5);
            EXPECT_NEAR(dense.at(slot, 0, tick), expected, 5000 * 1e-6) << slot << " " << tick;
        }
    }
}

TEST(ChargeBinning, cut_keeps_the_charge) {
    for (const bool interpolate : {false, true}) {
        const ChargeBinningConfig config{
            .bins = 10, .interpolate = interpolate, .nsigma = 3, .first_tick = -20, .ticks = 100};
        const ChargeImage image =
            bin_charge(one(5.46, 0.4, 10.7, 1.4, 1234), std::vector<char>(12, 1), config);
        EXPECT_NEAR(Dense(image, config).sum(), 1234, 1234 * 1e-5);
        std::int64_t first = 1000, last = -1000;
        for (const ChargeRun& run : image.runs) {
            first = std::min<std::int64_t>(first, run.tick - 20);
            last = std::max<std::int64_t>(last, run.tick - 20 + run.length);
        }
        EXPECT_EQ(first, std::floor(10.7 - 3 * 1.4));
        EXPECT_EQ(last, std::ceil(10.7 + 3 * 1.4));
    }
}

TEST(ChargeBinning, interpolation_keeps_the_mean_position) {
    const ChargeBinningConfig config{
        .bins = 10, .interpolate = true, .nsigma = 9, .first_tick = 0, .ticks = 40};
    for (const double wire : {4.0, 4.03, 4.5, 3.77}) {
        const ChargeImage image = bin_charge(one(wire, 0.21, 20, 1, 1), std::vector<char>(9, 1), config);
        const Dense dense(image, config);
        double mean = 0;
        for (std::int64_t slot = 0; slot < 9; ++slot) {
            for (std::int64_t row = 0; row <= 10; ++row) {
                for (std::int64_t tick = 0; tick < 40; ++tick) {
                    mean += dense.at(slot, row, tick) *
                            (static_cast<double>(slot) - 0.5 + static_cast<double>(row) / 10);
                }
            }
        }
        EXPECT_NEAR(mean, wire, 1e-5);
    }
}

TEST(ChargeBinning, a_point_is_one_bin) {
    const ChargeBinningConfig config{
        .bins = 10, .interpolate = true, .nsigma = 3, .first_tick = 0, .ticks = 8};
    const ChargeImage image = bin_charge(one(2.27, 0, 3.5, 0, 100), std::vector<char>(5, 1), config);
    const Dense dense(image, config);
    // 0.27 + 0.5 pitches from the edge: 7.7 intervals.
    EXPECT_NEAR(dense.at(2, 7, 3), 30, 1e-3);
    EXPECT_NEAR(dense.at(2, 8, 3), 70, 1e-3);
    EXPECT_EQ(image.electrons.size(), 2U);
}

TEST(ChargeBinning, charge_outside_is_dropped) {
    const ChargeBinningConfig config{
        .bins = 1, .interpolate = false, .nsigma = 5, .first_tick = 0, .ticks = 10};
    const std::vector<char> exists{1, 1, 0, 1};
    const auto sum = [&](const ChargeSpots& spots) {
        return Dense(bin_charge(spots, exists, config), config).sum();
    };
    EXPECT_NEAR(sum(one(-0.5, 0.3, 5, 0.3, 10)), 5, 1e-3) << "half of it beyond the first wire";
    EXPECT_NEAR(sum(one(1.5, 0.05, 5, 0.3, 10)), 5, 1e-3) << "half of it where there is no wire";
    EXPECT_NEAR(sum(one(1, 0.05, 10, 0.3, 10)), 5, 1e-3) << "half of it after the last tick";
    EXPECT_EQ(sum(one(1, 0.05, -7, 0.3, 10)), 0);
    EXPECT_EQ(sum(one(-40, 0.05, 5, 0.3, 10)), 0);
    EXPECT_EQ(sum(one(1e6, 0.05, 5, 0.3, 10)), 0);
    EXPECT_EQ(sum({}), 0);
}

TEST(ChargeBinning, threads_do_not_change_the_result) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> slot(-2, 202);
    std::uniform_real_distribution<double> tick(-10, 510);
    std::uniform_real_distribution<double> sigma(0.05, 2);
    ChargeSpots spots;
    for (int i = 0; i < 4000; ++i) {
        spots.wire.push_back(slot(random));
        spots.wire_sigma.push_back(sigma(random));
        spots.tick.push_back(tick(random));
        spots.tick_sigma.push_back(sigma(random));
        spots.electrons.push_back(1000 * sigma(random));
    }
    const ChargeBinningConfig config{
        .bins = 10, .interpolate = true, .nsigma = 3, .first_tick = 0, .ticks = 500};
    const int threads = at::get_num_threads();
    const auto with_threads = [&](int count) {
        at::set_num_threads(count);
        return bin_charge(spots, std::vector<char>(200, 1), config);
    };
    const ChargeImage serial = with_threads(1);
    const ChargeImage parallel = with_threads(4);
    at::set_num_threads(threads);
    EXPECT_EQ(serial.electrons, parallel.electrons);
    EXPECT_EQ(serial.first_run, parallel.first_run);
    ASSERT_EQ(serial.runs.size(), parallel.runs.size());
    EXPECT_EQ(std::memcmp(serial.runs.data(), parallel.runs.data(), serial.runs.size() * sizeof(ChargeRun)),
              0);
    EXPECT_GT(serial.electrons.size(), 100000U);
}

} // namespace
} // namespace spng::test
