// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/fuzz/target.h"

#include <cstdint>
#include <string>
#include <vector>

namespace spng::fuzz {

/// The sequence of inputs of a target: the seeds, with `sweep` each seed cut at 64 positions and with each single bit
/// flipped (a sample of the bits of a large seed), then random mutations without end.
class Inputs {
public:
    Inputs(const Target& target, std::vector<std::string> seeds, std::uint64_t seed, bool sweep);

    /// Return input `index`. It depends on the arguments and on the seeds added so far.
    std::string at(std::uint64_t index) const;
    /// Return the count of inputs before the random ones.
    std::uint64_t fixed() const { return m_fixed; }
    /// Make an input a seed of random mutations.
    /// @return false for an empty or large input, or with enough seeds
    bool add_seed(const std::string& bytes);

private:
    std::string mutation(Random& random) const;

    const Target& m_target;
    std::vector<std::string> m_seeds;
    std::size_t m_corpus; ///< seeds from the corpus
    std::uint64_t m_seed;
    bool m_sweep;
    std::uint64_t m_fixed = 0;
};

} // namespace spng::fuzz
