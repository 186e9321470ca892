// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/driver/inputs.h"

#include "tests/fuzz/mutate/bytes.h"

#include <algorithm>
#include <utility>

namespace spng::fuzz {
namespace {

constexpr std::size_t max_flips = 16384; // of a seed: all bits of 2 kB
constexpr std::size_t max_seeds = 4096;
constexpr std::size_t max_new_seed_bytes = 8192;

std::size_t flips_of(const std::string& bytes) {
    return std::min(max_flips, 8 * bytes.size());
}

} // namespace

Inputs::Inputs(const Target& target, std::vector<std::string> seeds, std::uint64_t seed, bool sweep)
    : m_target(target), m_seeds(std::move(seeds)), m_corpus(m_seeds.size()), m_seed(seed), m_sweep(sweep),
      m_fixed(m_corpus) {
    for (const std::string& bytes : m_seeds) {
        m_fixed += sweep ? 64 + flips_of(bytes) : 0;
    }
}

std::string Inputs::at(std::uint64_t index) const {
    if (index < m_corpus) {
        return m_seeds[index];
    }
    std::uint64_t rest = index - m_corpus;
    for (std::size_t i = 0; m_sweep && i < m_corpus; ++i) {
        const std::string& bytes = m_seeds[i];
        const std::size_t flips = flips_of(bytes);
        if (rest < 64) {
            return cut(bytes, rest);
        }
        if (rest < 64 + flips) { // evenly over the file
            const std::uint64_t bits = 8 * bytes.size();
            return with_flipped_bit(bytes, (rest - 64) * bits / flips +
                                               (bits > flips ? m_seed % (bits / flips) : 0));
        }
        rest -= 64 + flips;
    }
    Random random(m_seed ^ (index * 0xD1342543DE82EF95));
    return mutation(random);
}

std::string Inputs::mutation(Random& random) const {
    switch (random.below(8)) {
    case 0:
        return cut(random.pick(m_seeds), random.below(64));
    case 1: {
        const std::string& bytes = random.pick(m_seeds);
        return with_flipped_bit(bytes, random.below(8 * bytes.size()));
    }
    case 2:
    case 3:
        return mutate_bytes(random.pick(m_seeds), m_seeds, m_target.words, random);
    default:
        return m_target.mutate(m_seeds, random);
    }
}

bool Inputs::add_seed(const std::string& bytes) {
    if (m_seeds.size() == max_seeds || bytes.size() > max_new_seed_bytes || bytes.empty()) {
        return false;
    }
    m_seeds.push_back(bytes);
    return true;
}

} // namespace spng::fuzz
