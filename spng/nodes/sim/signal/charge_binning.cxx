// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/charge_binning.h"

#include "spng/core/rows/multiversion.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace spng {
namespace {

/// Shares of one Gaussian in consecutive bins, with sum 1.
struct Profile {
    std::int64_t first = 0;   ///< bin of the first share
    std::vector<float> share; ///< by bin
    std::vector<float> upper; ///< part of the share that goes to the upper edge of the bin
};

/// @param centre, sigma  in bins; bin n is [n, n + 1)
void make_profile(double centre, double sigma, double nsigma, bool with_edges, Profile& profile) {
    // Avoid a division by 0. A Gaussian of this width is a point.
    sigma = std::max(sigma, 1e-6);
    const double low = std::floor(centre - nsigma * sigma);
    const auto count = static_cast<std::size_t>(std::max(std::ceil(centre + nsigma * sigma) - low, 1.0));
    profile.first = static_cast<std::int64_t>(low);
    profile.share.resize(count);
    profile.upper.resize(with_edges ? count : 0);
    const auto cumulative = [](double u) { return 0.5 * std::erfc(-u * std::numbers::sqrt2 / 2); };
    const auto density = [](double u) {
        return std::exp(-0.5 * u * u) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
    };
    double u = (low - centre) / sigma;
    double below = cumulative(u);
    double slope = with_edges ? density(u) : 0;
    double sum = 0;
    for (std::size_t bin = 0; bin < count; ++bin) {
        u = (low + static_cast<double>(bin) + 1 - centre) / sigma;
        const double next = cumulative(u);
        const double share = next - below;
        below = next;
        sum += share;
        profile.share[bin] = static_cast<float>(share);
        if (with_edges) {
            const double next_slope = density(u);
            // Integral of x g(x) over the bin, from its lower edge, in bins.
            const double moment =
                (centre - low - static_cast<double>(bin)) * share - sigma * (next_slope - slope);
            profile.upper[bin] = static_cast<float>(std::clamp(moment, 0.0, share));
            slope = next_slope;
        }
    }
    const auto scale = static_cast<float>(1 / sum);
    for (float& share : profile.share) {
        share *= scale;
    }
    for (float& upper : profile.upper) {
        upper *= scale;
    }
}

/// Spots sorted by their first slot. The spots that reach one slot are in a short range of this list.
struct SpotsBySlot {
    std::vector<std::int32_t> order;
    /// (slot + 1): index in `order` of the first spot that begins in the slot
    std::vector<std::int32_t> first;
    std::int64_t widest = 0; ///< maximum number of slots of a spot
};

SpotsBySlot sort_by_slot(const std::vector<Profile>& across, const std::vector<char>& used, std::int64_t bins,
                         std::int64_t slots) {
    SpotsBySlot sorted;
    sorted.first.assign(static_cast<std::size_t>(slots) + 1, 0);
    const auto slot_of = [&](std::int64_t bin) {
        return std::clamp<std::int64_t>(bin >= 0 ? bin / bins : -1, 0, slots - 1);
    };
    for (std::size_t spot = 0; spot < across.size(); ++spot) {
        if (used[spot]) {
            const std::int64_t low = slot_of(across[spot].first);
            const auto count = static_cast<std::int64_t>(across[spot].share.size());
            sorted.widest = std::max(sorted.widest, slot_of(across[spot].first + count - 1) - low + 1);
            ++sorted.first[static_cast<std::size_t>(low) + 1];
        }
    }
    for (std::size_t slot = 1; slot < sorted.first.size(); ++slot) {
        sorted.first[slot] += sorted.first[slot - 1];
    }
    sorted.order.resize(static_cast<std::size_t>(sorted.first.back()));
    auto next = sorted.first;
    for (std::size_t spot = 0; spot < across.size(); ++spot) {
        if (used[spot]) {
            const auto low = static_cast<std::size_t>(slot_of(across[spot].first));
            sorted.order[static_cast<std::size_t>(next[low]++)] = static_cast<std::int32_t>(spot);
        }
    }
    return sorted;
}

SPNG_MULTIVERSION
void add_scaled(float* to, const float* from, std::int64_t count, float factor) {
    for (std::int64_t i = 0; i < count; ++i) {
        to[i] += factor * from[i];
    }
}

/// Dense rows of the wire region that is being filled. Only touched blocks of ticks are searched and cleared.
class RegionBuffer {
public:
    RegionBuffer(std::int64_t rows, std::int64_t ticks)
        : m_ticks(ticks), m_blocks(ticks / block + 1), m_electrons(static_cast<std::size_t>(rows * ticks)),
          m_touched(static_cast<std::size_t>(rows * m_blocks)) {}

    void add(std::int64_t row, std::int64_t tick, const float* share, std::int64_t count, float electrons) {
        add_scaled(m_electrons.data() + row * m_ticks + tick, share, count, electrons);
        for (std::int64_t at = tick / block; at <= (tick + count - 1) / block; ++at) {
            m_touched[static_cast<std::size_t>(row * m_blocks + at)] = 1;
        }
    }

    /// Move the charge to the end of the lists and clear the buffer.
    void take(std::int64_t rows, std::vector<ChargeRun>& runs, std::vector<float>& electrons) {
        for (std::int64_t row = 0; row < rows; ++row) {
            char* touched = m_touched.data() + row * m_blocks;
            for (std::int64_t at = 0; at < m_blocks; ++at) {
                if (touched[at]) {
                    const std::int64_t begin = at;
                    while (at < m_blocks && touched[at]) {
                        touched[at++] = 0;
                    }
                    take_run(row, begin * block, std::min(at * block, m_ticks), runs, electrons);
                }
            }
        }
    }

private:
    static constexpr std::int64_t block = 16;

    void take_run(std::int64_t row, std::int64_t begin, std::int64_t end, std::vector<ChargeRun>& runs,
                  std::vector<float>& electrons) {
        float* const values = m_electrons.data() + row * m_ticks;
        const auto is_set = [](float value) { return value != 0; };
        float* const first = std::find_if(values + begin, values + end, is_set);
        float* last = values + end;
        while (last > first && !is_set(last[-1])) {
            --last;
        }
        if (first < last) {
            runs.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(first - values),
                            static_cast<std::int32_t>(last - first),
                            static_cast<std::int32_t>(electrons.size())});
            electrons.insert(electrons.end(), first, last);
            std::fill(first, last, 0.0F);
        }
    }

    std::int64_t m_ticks;
    std::int64_t m_blocks;
    std::vector<float> m_electrons;
    std::vector<char> m_touched;
};

/// Result of a range of slots.
struct Part {
    std::vector<ChargeRun> runs;
    std::vector<float> electrons;
    std::vector<std::int32_t> runs_of_slot;
};

class Binning {
public:
    Binning(const ChargeSpots& spots, const std::vector<char>& exists, const ChargeBinningConfig& config)
        : m_spots(spots), m_exists(exists), m_config(config), m_across(spots.size()), m_along(spots.size()) {
        std::vector<char> used(spots.size());
        at::parallel_for(0, static_cast<std::int64_t>(spots.size()), 1024, [&](auto begin, auto end) {
            for (auto spot = static_cast<std::size_t>(begin); spot < static_cast<std::size_t>(end); ++spot) {
                used[spot] = prepare(spot);
            }
        });
        m_sorted = sort_by_slot(m_across, used, config.bins, slots());
    }

    std::int64_t slots() const { return static_cast<std::int64_t>(m_exists.size()); }

    void fill(std::int64_t begin, std::int64_t end, Part& part) const {
        RegionBuffer buffer(m_config.rows(), m_config.ticks);
        for (std::int64_t slot = begin; slot < end; ++slot) {
            const std::size_t before = part.runs.size();
            if (m_exists[static_cast<std::size_t>(slot)]) {
                fill_slot(slot, buffer);
                buffer.take(m_config.rows(), part.runs, part.electrons);
            }
            part.runs_of_slot.push_back(static_cast<std::int32_t>(part.runs.size() - before));
        }
    }

private:
    /// @return whether the spot has charge inside the image
    bool prepare(std::size_t spot) {
        const auto bins = static_cast<double>(m_config.bins);
        make_profile((m_spots.wire[spot] + 0.5) * bins, m_spots.wire_sigma[spot] * bins, m_config.nsigma,
                     m_config.interpolate, m_across[spot]);
        Profile& along = m_along[spot];
        make_profile(m_spots.tick[spot] - static_cast<double>(m_config.first_tick), m_spots.tick_sigma[spot],
                     m_config.nsigma, false, along);
        const std::int64_t low = std::max<std::int64_t>(along.first, 0);
        const std::int64_t high =
            std::min(along.first + static_cast<std::int64_t>(along.share.size()), m_config.ticks);
        if (low >= high) {
            return false;
        }
        along.share.erase(along.share.begin() + (high - along.first), along.share.end());
        along.share.erase(along.share.begin(), along.share.begin() + (low - along.first));
        along.first = low;
        const Profile& across = m_across[spot];
        return across.first < slots() * m_config.bins &&
               across.first + static_cast<std::int64_t>(across.share.size()) > 0;
    }

    void fill_slot(std::int64_t slot, RegionBuffer& buffer) const {
        const std::int64_t begin = std::max<std::int64_t>(slot - m_sorted.widest + 1, 0);
        for (std::int32_t at = m_sorted.first[static_cast<std::size_t>(begin)];
             at < m_sorted.first[static_cast<std::size_t>(slot) + 1]; ++at) {
            add_spot(static_cast<std::size_t>(m_sorted.order[static_cast<std::size_t>(at)]), slot, buffer);
        }
    }

    void add_spot(std::size_t spot, std::int64_t slot, RegionBuffer& buffer) const {
        const Profile& across = m_across[spot];
        const Profile& along = m_along[spot];
        const std::int64_t origin = slot * m_config.bins;
        const std::int64_t low = std::max(across.first, origin);
        const std::int64_t high =
            std::min(across.first + static_cast<std::int64_t>(across.share.size()), origin + m_config.bins);
        const auto count = static_cast<std::int64_t>(along.share.size());
        const auto electrons = static_cast<float>(m_spots.electrons[spot]);
        const auto add = [&](std::int64_t row, float share) {
            if (share != 0) {
                buffer.add(row, along.first, along.share.data(), count, electrons * share);
            }
        };
        if (!m_config.interpolate) {
            for (std::int64_t bin = low; bin < high; ++bin) {
                add(bin - origin, across.share[static_cast<std::size_t>(bin - across.first)]);
            }
            return;
        }
        float upper = 0; // upper part of the previous interval
        for (std::int64_t bin = low; bin < high; ++bin) {
            const auto index = static_cast<std::size_t>(bin - across.first);
            add(bin - origin, upper + across.share[index] - across.upper[index]);
            upper = across.upper[index];
        }
        if (low < high) {
            add(high - origin, upper);
        }
    }

    const ChargeSpots& m_spots;
    const std::vector<char>& m_exists;
    const ChargeBinningConfig& m_config;
    std::vector<Profile> m_across;
    std::vector<Profile> m_along;
    SpotsBySlot m_sorted;
};

ChargeImage joined(const std::vector<Part>& parts) {
    ChargeImage image;
    image.first_run.push_back(0);
    for (const Part& part : parts) {
        const auto offset = static_cast<std::int32_t>(image.electrons.size());
        for (ChargeRun run : part.runs) {
            run.offset += offset;
            image.runs.push_back(run);
        }
        image.electrons.insert(image.electrons.end(), part.electrons.begin(), part.electrons.end());
        for (const std::int32_t runs : part.runs_of_slot) {
            image.first_run.push_back(image.first_run.back() + runs);
        }
    }
    return image;
}

} // namespace

ChargeImage bin_charge(const ChargeSpots& spots, const std::vector<char>& exists,
                       const ChargeBinningConfig& config) {
    const Binning binning(spots, exists, config);
    constexpr std::int64_t slots_per_part = 32;
    std::vector<Part> parts(
        static_cast<std::size_t>((binning.slots() + slots_per_part - 1) / slots_per_part));
    at::parallel_for(0, static_cast<std::int64_t>(parts.size()), 1, [&](auto begin, auto end) {
        for (std::int64_t part = begin; part < end; ++part) {
            binning.fill(part * slots_per_part, std::min((part + 1) * slots_per_part, binning.slots()),
                         parts[static_cast<std::size_t>(part)]);
        }
    });
    return joined(parts);
}

} // namespace spng
