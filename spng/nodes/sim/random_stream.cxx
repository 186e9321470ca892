// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/random_stream.h"

#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>

namespace spng {
namespace {

constexpr double max_by_inversion = 30;
constexpr std::int64_t grain = 4096;

/// Sum the probabilities of 0, 1, 2, ... successes until the sum exceeds a uniform random value.
std::int64_t by_inversion(RandomStream& random, std::int64_t trials, double probability) {
    const double ratio = probability / (1 - probability);
    double chance = std::exp(static_cast<double>(trials) * std::log1p(-probability));
    double left = random.uniform();
    std::int64_t successes = 0;
    while (left > chance && successes < trials) {
        left -= chance;
        ++successes;
        chance *= ratio * static_cast<double>(trials - successes + 1) / static_cast<double>(successes);
    }
    return successes;
}

/// Cornish and Fisher 1938, to the fourth cumulant.
std::int64_t by_quantile(RandomStream& random, std::int64_t trials, double probability) {
    const double mean = static_cast<double>(trials) * probability, variance = mean * (1 - probability);
    const double skewness = (1 - 2 * probability) / std::sqrt(variance);
    const double excess = (1 - 6 * probability * (1 - probability)) / variance;
    const double z = random.normal();
    const double quantile = z + skewness * (z * z - 1) / 6 + excess * (z * z * z - 3 * z) / 24 -
                            skewness * skewness * (2 * z * z * z - 5 * z) / 36;
    // Rounding to an integer adds the variance of a unit interval.
    const double width = std::sqrt(variance - 1.0 / 12);
    return std::clamp(static_cast<std::int64_t>(std::llround(mean + width * quantile)), std::int64_t{0},
                      trials);
}

} // namespace

std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t event, std::uint64_t purpose) {
    std::uint64_t mixed = 0;
    for (const std::uint64_t part : {seed, event, purpose}) {
        // Finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
        mixed += part + 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        mixed ^= mixed >> 31;
    }
    return mixed;
}

std::int64_t binomial(RandomStream& random, std::int64_t trials, double probability) {
    if (trials <= 0 || !(probability > 0)) {
        return 0;
    }
    if (probability >= 1) {
        return trials;
    }
    if (probability > 0.5) {
        return trials - binomial(random, trials, 1 - probability);
    }
    return static_cast<double>(trials) * probability <= max_by_inversion
               ? by_inversion(random, trials, probability)
               : by_quantile(random, trials, probability);
}

at::Tensor binomial(const at::Tensor& trials, const at::Tensor& probability, std::uint64_t seed) {
    require_tensor(trials.defined() && trials.scalar_type() == at::kDouble, "binomial", "trials", trials,
                   "float64");
    require_tensor(probability.defined() && probability.scalar_type() == at::kDouble &&
                       probability.sizes() == trials.sizes(),
                   "binomial", "probability", probability, "float64 of the shape of trials");
    const at::Tensor counts = trials.cpu().contiguous(), chances = probability.cpu().contiguous();
    at::Tensor successes = at::empty_like(counts);
    const double* count = counts.const_data_ptr<double>();
    const double* chance = chances.const_data_ptr<double>();
    double* success = successes.mutable_data_ptr<double>();
    at::parallel_for(0, counts.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            RandomStream random(mixed_seed(seed, static_cast<std::uint64_t>(i), seed_purpose::deposition));
            success[i] =
                static_cast<double>(binomial(random, static_cast<std::int64_t>(count[i]), chance[i]));
        }
    });
    return successes.to(trials.device());
}

} // namespace spng
