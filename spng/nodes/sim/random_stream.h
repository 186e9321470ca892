#pragma once
// Random numbers by counting: number n of a stream is a hash of the seed and n,
// so that streams of different seeds (one for each track, one for each
// deposition) may be used in any order and by any thread.

#include <cmath>
#include <cstdint>
#include <numbers>

#include <ATen/core/Tensor.h>

namespace spng {

/// What random numbers are for, the last argument of mixed_seed(): one seed
/// serves all nodes of a job.
namespace seed_purpose {
enum : std::uint64_t { generate = 100, drift = 101, deposition = 102, track = 103 };
}

/// A seed for one purpose of one event of a job; different arguments give unrelated seeds.
std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t event, std::uint64_t purpose);

/// SplitMix64 (Steele, Lea and Flood 2014). Take seeds from mixed_seed(), so
/// that streams have nothing in common.
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

    /// In the open interval (0, 1).
    double uniform() { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; }
    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    /// Mean 0, standard deviation 1 (Box and Muller 1958).
    double normal() {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

    /// A whole number in [0, count).
    std::uint64_t below(std::uint64_t count) {
        return static_cast<std::uint64_t>(uniform() * static_cast<double>(count));
    }

private:
    std::uint64_t m_state;
};

/// Of so many trials with this probability, how many succeed: exact by
/// inversion up to a mean of 30 successes or failures, above it the normal
/// quantile with its Cornish-Fisher correction.
std::int64_t binomial(RandomStream& random, std::int64_t trials, double probability);

/// The same for each element of float64 tensors of equal shape, each with a
/// stream of its own. Trials are rounded down. On whatever device the tensors
/// are, the numbers are drawn on the host and are the same.
at::Tensor binomial(const at::Tensor& trials, const at::Tensor& probability, std::uint64_t seed);

} // namespace spng
