// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counter-based random numbers: element n of a stream is a hash of the seed and n. Streams of different
// seeds, such as one per track or deposition, can be used in any order and by any thread.

#include <cmath>
#include <cstdint>
#include <numbers>

#include <ATen/core/Tensor.h>

namespace spng {

/// Purposes of random numbers, the last argument of mixed_seed(): all nodes of a job share one seed.
namespace seed_purpose {
enum : std::uint64_t { generate = 100, drift = 101, deposition = 102, track = 103 };
}

/// Return a seed for one purpose of one event of a job. Different arguments give unrelated seeds.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t event, std::uint64_t purpose);

/// SplitMix64 (Steele, Lea and Flood 2014). Use seeds from mixed_seed(), so that streams are independent.
class RandomStream {
public:
    explicit RandomStream(std::uint64_t seed) : m_state(seed) {}

    std::uint64_t bits() {
        m_state += 0x9e3779b97f4a7c15;
        std::uint64_t hash = m_state;
        hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
        hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
        return hash ^ (hash >> 31);
    }

    /// Uniform in the open interval (0, 1).
    double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    /// Normal with mean 0 and standard deviation 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// Uniform integer in [0, count).
    std::uint64_t below(std::uint64_t count) {
        return static_cast<std::uint64_t>(uniform() * static_cast<double>(count));
    }

private:
    std::uint64_t m_state;
};

/// Draw a binomial number of successes: exact by inversion up to a mean of 30 successes or failures, above
/// from the normal quantile with Cornish-Fisher correction.
std::int64_t binomial(RandomStream& random, std::int64_t trials, double probability);

/// Do the same for each element of float64 tensors of equal shape, each with its own stream. Trials are
/// rounded down. The numbers are drawn on the host, so they do not depend on the device of the tensors.
at::Tensor binomial(const at::Tensor& trials, const at::Tensor& probability, std::uint64_t seed);

} // namespace spng
