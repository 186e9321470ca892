// SPDX-License-Identifier: Apache-2.0
#pragma once
// Loops over the ticks of the waveforms of a front-end board, for coherent_noise.cxx. A waveform is `ticks` real numbers;
// flags have one byte for each tick, 0 where nothing is flagged.

#include "spng/core/rows/multiversion.h"
#include "spng/core/selection.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace spng::board_waves {

/// Return half the distance between the 16 % and 84 % order statistics: sigma of a Gaussian, robust against
/// signals. 0 without good ticks.
/// @param bad  flags of the ticks that do not count; null: all count
template <class Real>
SPNG_MULTIVERSION double spread(const Real* values, std::int64_t ticks, OrderedKey<Real>* keys,
                                const std::uint8_t* bad = nullptr) {
    constexpr std::int64_t sampling = 4; // every 4th sample is enough
    std::int64_t count = 0;
    for (std::int64_t tick = 0; tick < ticks; tick += sampling) {
        if (bad == nullptr || bad[tick] == 0) {
            keys[count++] = ordered_key(values[tick]);
        }
    }
    if (count == 0) {
        return 0;
    }
    const auto range = range_of_keys(keys, count);
    const auto last = static_cast<double>(count - 1);
    const auto low = select_key(keys, count, static_cast<std::int64_t>(0.16 * last), range);
    const auto high = select_key(keys, count, static_cast<std::int64_t>(0.84 * last), {low, range.high});
    return (static_cast<double>(sample_of_key(high)) - static_cast<double>(sample_of_key(low))) / 2;
}

/// Flag the ticks with values beyond +-limit.
template <class Real>
SPNG_MULTIVERSION void mark_beyond(const Real* values, std::int64_t ticks, double limit,
                                   std::uint8_t* signal) {
    const auto bound = static_cast<Real>(limit);
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        signal[tick] |= static_cast<std::uint8_t>((values[tick] > bound) | (values[tick] < -bound));
    }
}

/// Running mean over the ticks [tick - half, tick + half] that are in the row.
template <class Real>
void smooth(const Real* values, std::int64_t ticks, std::int64_t half, Real* result) {
    double sum = 0;
    for (std::int64_t tick = 0; tick < std::min(half, ticks); ++tick) {
        sum += values[tick];
    }
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        if (tick + half < ticks) {
            sum += values[tick + half];
        }
        if (tick - half - 1 >= 0) {
            sum -= values[tick - half - 1];
        }
        const std::int64_t count =
            std::min(tick + half, ticks - 1) - std::max(tick - half, std::int64_t{0}) + 1;
        result[tick] = static_cast<Real>(sum / static_cast<double>(count));
    }
}

/// Flag the `padding` ticks on both sides of each flagged tick too.
inline void widen(std::uint8_t* signal, std::int64_t ticks, std::int64_t padding) {
    std::int64_t marked_until = 0;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        if (signal[tick] == 1) {
            for (std::int64_t other = std::max(marked_until, tick - padding); other < tick; ++other) {
                signal[other] |= 2;
            }
            marked_until = tick + padding + 1;
        } else if (tick < marked_until) {
            signal[tick] |= 2;
        }
    }
}

/// Lower median over rows at each tick, by bisection on ordered keys with one tick per SIMD lane.
template <class Real>
SPNG_MULTIVERSION void medians_over_rows(const std::vector<const Real*>& rows, std::int64_t ticks,
                                         Real* result) {
    constexpr std::int64_t lanes = 64;
    using Key = OrderedKey<Real>;
    const auto members = static_cast<std::int64_t>(rows.size());
    const Key rank = static_cast<Key>((members - 1) / 2);
    std::vector<Key> keys(static_cast<std::size_t>(members * lanes));
    for (std::int64_t begin = 0; begin < ticks; begin += lanes) {
        const std::int64_t count = std::min(lanes, ticks - begin);
        std::array<Key, lanes> low{};
        std::array<Key, lanes> high{};
        for (std::int64_t member = 0; member < members; ++member) {
            Key* own = keys.data() + member * lanes;
            for (std::int64_t lane = 0; lane < count; ++lane) {
                own[lane] = ordered_key(rows[static_cast<std::size_t>(member)][begin + lane]);
                low[lane] = member == 0 || own[lane] < low[lane] ? own[lane] : low[lane];
                high[lane] = member == 0 || own[lane] > high[lane] ? own[lane] : high[lane];
            }
        }
        bool open = true;
        while (open) {
            std::array<Key, lanes> middle{};
            std::array<Key, lanes> found{};
            for (std::int64_t lane = 0; lane < count; ++lane) {
                // Half the sum, rounded down, without overflow.
                middle[lane] = static_cast<Key>((low[lane] & high[lane]) + ((low[lane] ^ high[lane]) >> 1));
            }
            for (std::int64_t member = 0; member < members; ++member) {
                const Key* own = keys.data() + member * lanes;
                for (std::int64_t lane = 0; lane < count; ++lane) {
                    found[lane] = static_cast<Key>(found[lane] + (own[lane] <= middle[lane]));
                }
            }
            Key still_open = 0;
            for (std::int64_t lane = 0; lane < count; ++lane) {
                const bool below = found[lane] > rank;
                high[lane] = below ? middle[lane] : high[lane];
                low[lane] = below || low[lane] == high[lane] ? low[lane] : static_cast<Key>(middle[lane] + 1);
                still_open |= static_cast<Key>(low[lane] < high[lane]);
            }
            open = still_open != 0;
        }
        for (std::int64_t lane = 0; lane < count; ++lane) {
            result[begin + lane] = sample_of_key(low[lane]);
        }
    }
}

/// Add the waveform, and 1 to the count, at the ticks that are not flagged.
template <class Real>
SPNG_MULTIVERSION void add_trusted(const Real* deviation, const std::uint8_t* signal, std::int64_t ticks,
                                   Real* sum, std::int32_t* count) {
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        const bool trusted = signal[tick] == 0;
        sum[tick] += trusted ? deviation[tick] : Real{0};
        count[tick] += trusted;
    }
}

/// Fill the ticks without an estimate by straight lines in time.
template <class Real>
void bridge(const std::vector<std::uint8_t>& estimated, std::vector<Real>& mean) {
    const auto ticks = static_cast<std::int64_t>(mean.size());
    std::int64_t before = -1;
    for (std::int64_t tick = 0; tick <= ticks; ++tick) {
        if (tick < ticks && !estimated[tick]) {
            continue;
        }
        for (std::int64_t gap = before + 1; gap < tick; ++gap) {
            if (before < 0 && tick == ticks) {
                mean[gap] = 0;
            } else if (before < 0 || tick == ticks) {
                mean[gap] = before < 0 ? mean[tick] : mean[before];
            } else {
                const auto share = static_cast<Real>(gap - before) / static_cast<Real>(tick - before);
                mean[gap] = mean[before] + share * (mean[tick] - mean[before]);
            }
        }
        before = tick;
    }
}

} // namespace spng::board_waves
