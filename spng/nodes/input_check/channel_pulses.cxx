// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/channel_pulses.h"

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

constexpr double grow_sigmas = 3, lobe_sigmas = 5, pulse_sigmas = 15, shape_sigmas = 20;
constexpr std::int64_t max_gap = 8, margin = 40, max_shape_length = 36, min_distance = 30;
constexpr int clippings = 4;
constexpr double clip_sigmas = 4;
constexpr std::size_t max_pulses = 16;
constexpr std::int64_t stretch_ticks = 64, max_tried_stretches = 24;
constexpr std::uint64_t max_stretches = 8;
constexpr double quiet_sigmas = 4.5;

/// Distinct value and the middle rank of its samples.
struct Step {
    double value, rank;
};

double value_at(const std::vector<Step>& steps, double rank) {
    const auto above = std::lower_bound(steps.begin(), steps.end(), rank,
                                        [](const Step& step, double wanted) { return step.rank < wanted; });
    if (above == steps.begin() || above == steps.end()) {
        return above == steps.end() ? steps.back().value : above->value;
    }
    const auto below = std::prev(above);
    return std::lerp(below->value, above->value, (rank - below->rank) / (above->rank - below->rank));
}

/// Return median and RMS of sorted samples.
template <class T>
ChannelLevel level_of(const T* sorted, const T* end) {
    std::vector<Step> steps;
    for (const T* begin = sorted; begin != end;) {
        const T* const next = std::upper_bound(begin, end, *begin);
        const auto position = static_cast<double>((begin - sorted) + (next - sorted));
        steps.push_back({static_cast<double>(*begin), position / 2});
        begin = next;
    }
    const auto count = static_cast<double>(end - sorted);
    constexpr double quartile_of_gaussian = 0.674490;
    return {value_at(steps, count / 2),
            (value_at(steps, 0.75 * count) - value_at(steps, 0.25 * count)) / (2 * quartile_of_gaussian)};
}

/// Ticks [begin, end) of a run.
struct Run {
    std::int64_t begin, end;
};

template <class T>
std::vector<Run> runs_beyond(const T* samples, std::int64_t ticks, double median, double threshold) {
    std::vector<Run> runs;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        if (std::abs(static_cast<double>(samples[tick]) - median) > threshold) {
            if (!runs.empty() && tick - runs.back().end <= max_gap) {
                runs.back().end = tick + 1;
            } else {
                runs.push_back({tick, tick + 1});
            }
        }
    }
    return runs;
}

} // namespace

template <class T>
ChannelLevel channel_level(const T* samples, std::int64_t ticks, std::int64_t max_samples) {
    const std::int64_t stride = (ticks + max_samples - 1) / max_samples;
    std::vector<T> sorted;
    for (std::int64_t tick = 0; tick < ticks; tick += stride) {
        sorted.push_back(samples[tick]);
    }
    if (sorted.empty()) {
        return {};
    }
    std::sort(sorted.begin(), sorted.end());
    const T *begin = sorted.data(), *end = begin + sorted.size();
    ChannelLevel level = level_of(begin, end);
    for (int i = 0; i < clippings && level.rms > 0; ++i) {
        const auto is_below = [](T sample, double bound) { return static_cast<double>(sample) < bound; };
        begin = std::lower_bound(begin, end, level.median - clip_sigmas * level.rms, is_below);
        end = std::lower_bound(begin, end, level.median + clip_sigmas * level.rms, is_below);
        level = level_of(begin, end);
    }
    return level;
}

template <class T>
std::vector<Pulse> find_pulses(const T* samples, std::int64_t ticks, double median, double sigma) {
    const auto height = [&](std::int64_t tick) {
        return (static_cast<double>(samples[tick]) - median) / sigma;
    };
    const auto runs = runs_beyond(samples, ticks, median, grow_sigmas * sigma);
    std::vector<Pulse> pulses;
    for (std::size_t i = 0; i < runs.size() && pulses.size() < max_pulses; ++i) {
        const auto [begin, end] = runs[i];
        std::int64_t highest = begin, lowest = begin;
        double above = 0, below = 0;
        for (std::int64_t tick = begin; tick < end; ++tick) {
            const double sample = height(tick);
            highest = sample > height(highest) ? tick : highest;
            lowest = sample < height(lowest) ? tick : lowest;
            above += sample > grow_sigmas ? sample : 0;
            below += sample < -grow_sigmas ? -sample : 0;
        }
        const std::int64_t peak = height(highest) > -height(lowest) ? highest : lowest;
        const double size = std::abs(height(peak));
        if (size < pulse_sigmas || begin < margin || end > ticks - margin) {
            continue;
        }
        Pulse& pulse = pulses.emplace_back();
        pulse.polarity = (above - below) / (above + below);
        pulse.lobe_distance = std::min(height(highest), -height(lowest)) > lobe_sigmas ? lowest - highest : 0;
        const bool is_alone = (i == 0 || begin - runs[i - 1].end >= min_distance) &&
                              (i + 1 == runs.size() || runs[i + 1].begin - end >= min_distance);
        if (size >= shape_sigmas && end - begin <= max_shape_length && is_alone) {
            for (std::int64_t tick = peak - shape_peak; tick < peak - shape_peak + shape_ticks; ++tick) {
                pulse.shape.push_back(static_cast<float>(height(tick)));
            }
        }
    }
    return pulses;
}

NoiseProducts& NoiseProducts::operator+=(const NoiseProducts& other) {
    for (std::size_t distance = 0; distance < sum.size(); ++distance) {
        sum[distance] += other.sum[distance];
    }
    stretches += other.stretches;
    return *this;
}

Autocorrelation NoiseProducts::autocorrelation() const {
    Autocorrelation relative{};
    for (std::size_t distance = 0; distance < sum.size() && sum[0] > 0; ++distance) {
        relative[distance] = sum[distance] / sum[0];
    }
    return relative;
}

template <class T>
NoiseProducts noise_products(const T* samples, std::int64_t ticks, double median, double sigma) {
    NoiseProducts products;
    std::array<double, stretch_ticks> stretch{};
    const std::int64_t step = std::max<std::int64_t>(stretch_ticks, ticks / max_tried_stretches);
    for (std::int64_t begin = 0; begin + stretch_ticks <= ticks && products.stretches < max_stretches;
         begin += step) {
        bool is_quiet = true;
        for (std::size_t i = 0; i < stretch.size(); ++i) {
            stretch[i] =
                (static_cast<double>(samples[begin + static_cast<std::int64_t>(i)]) - median) / sigma;
            is_quiet = is_quiet && std::abs(stretch[i]) < quiet_sigmas;
        }
        if (!is_quiet) {
            continue;
        }
        ++products.stretches;
        for (std::size_t distance = 0; distance < products.sum.size(); ++distance) {
            double sum = 0;
            for (std::size_t i = 0; i + distance < stretch.size(); ++i) {
                sum += stretch[i] * stretch[i + distance];
            }
            products.sum[distance] += sum / static_cast<double>(stretch.size() - distance);
        }
    }
    return products;
}

template ChannelLevel channel_level(const std::int16_t*, std::int64_t, std::int64_t);
template ChannelLevel channel_level(const float*, std::int64_t, std::int64_t);
template ChannelLevel channel_level(const double*, std::int64_t, std::int64_t);
template std::vector<Pulse> find_pulses(const std::int16_t*, std::int64_t, double, double);
template std::vector<Pulse> find_pulses(const float*, std::int64_t, double, double);
template std::vector<Pulse> find_pulses(const double*, std::int64_t, double, double);
template NoiseProducts noise_products(const std::int16_t*, std::int64_t, double, double);
template NoiseProducts noise_products(const float*, std::int64_t, double, double);
template NoiseProducts noise_products(const double*, std::int64_t, double, double);

} // namespace spng
