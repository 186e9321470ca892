// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/coherent_noise.h"

#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/noise/board_waves.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace spng {
namespace {

constexpr double half_count = 0.5; // [ADC]
constexpr double odd_share = 0.2;  // of the variance, see remove_coherent_noise()

/// Buffers of one thread.
template <class Real>
struct Workspace {
    std::vector<Real> deviations, difference, smoothed, common, sum, mean;
    std::vector<std::uint8_t> signal, common_signal, estimated;
    std::vector<std::vector<std::uint8_t>> bad; ///< flags of the bad ticks, by member; empty: none
    std::vector<std::int32_t> count;
    std::vector<OrderedKey<Real>> keys;

    Workspace(std::int64_t members, std::int64_t ticks)
        : deviations(members * ticks), difference(ticks), smoothed(ticks), common(ticks), sum(ticks),
          mean(ticks), signal(members * ticks), common_signal(ticks), estimated(ticks), bad(members),
          count(ticks), keys(ticks) {}

    /// Return the flags of the bad ticks of a member; null: none.
    const std::uint8_t* bad_ticks(std::size_t member) const {
        return bad[member].empty() ? nullptr : bad[member].data();
    }
};

/// Noise of a channel, and its part in the estimate.
struct BoardChannel {
    double raw = 0;      ///< sigma of the deviation
    double rest = 0;     ///< sigma of the deviation minus the group's median
    double coupling = 1; ///< to the shared noise
    bool quiet = false;
    bool in_mean = false;
};

/// Return the lower median of a value over the members that have it above 0; 0 if there are none.
template <class Value>
double lower_median(const std::vector<BoardChannel>& members, Value&& value) {
    std::vector<double> values;
    for (const BoardChannel& member : members) {
        if (value(member) > 0) {
            values.push_back(value(member));
        }
    }
    if (values.empty()) {
        return 0;
    }
    const auto middle = values.begin() + (static_cast<std::ptrdiff_t>(values.size()) - 1) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Mark the ticks where the running means of the values exceed their own noise.
template <class Real>
void mark_smoothed(const Real* values, std::int64_t ticks, double threshold, std::int64_t half,
                   Workspace<Real>& work, std::uint8_t* signal, const std::uint8_t* bad = nullptr) {
    if (half > 0) {
        board_waves::smooth(values, ticks, half, work.smoothed.data());
        const double limit =
            threshold * board_waves::spread(work.smoothed.data(), ticks, work.keys.data(), bad);
        board_waves::mark_beyond(work.smoothed.data(), ticks, limit, signal);
    }
}

/// Mark the signals on all channels of a group in its median.
/// @return the noise of the median
template <class Real>
double mark_common(std::int64_t ticks, const CoherentNoiseRule& rule, Workspace<Real>& work) {
    const Real* common = work.common.data();
    std::uint8_t* signal = work.common_signal.data();
    std::fill(work.common_signal.begin(), work.common_signal.end(), 0);
    const double noise = board_waves::spread(common, ticks, work.keys.data());
    board_waves::mark_beyond(common, ticks, rule.common_threshold * std::max(noise, half_count), signal);
    mark_smoothed(common, ticks, rule.common_threshold, rule.half_smoothing, work, signal);
    if (rule.half_smoothing > 0) {
        board_waves::smooth(common, ticks, 2 * rule.half_smoothing, work.smoothed.data());
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            work.difference[tick] = common[tick] - work.smoothed[tick];
        }
        const double fast = board_waves::spread(work.difference.data(), ticks, work.keys.data());
        board_waves::mark_beyond(work.difference.data(), ticks,
                                 rule.common_threshold * std::max(fast, half_count), signal);
    }
    return noise;
}

/// Return the coupling of a channel to the shared noise.
template <class Real>
double fitted_coupling(const Real* deviation, const Real* common, const std::uint8_t* signal,
                       std::int64_t ticks, double rest, double common_noise) {
    double product = 0, square = 0;
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        const double wave = signal[tick] == 0 ? static_cast<double>(common[tick]) : 0;
        product += wave * static_cast<double>(deviation[tick]);
        square += wave * wave;
    }
    const double fitted = square > 0 ? product / square : 1;
    return std::abs(1 - fitted) * common_noise > std::sqrt(odd_share) * rest ? std::clamp(fitted, 0.0, 2.0)
                                                                             : 1;
}

/// Find the deviation of a channel from its median over time.
template <class Sample, class Real>
void find_deviation(const Sample* from, std::int64_t ticks, Workspace<Real>& work, Real* deviation) {
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        deviation[tick] = static_cast<Real>(from[tick]);
        work.keys[tick] = ordered_key(deviation[tick]);
    }
    const auto range = range_of_keys(work.keys.data(), ticks);
    const Real median = sample_of_key(select_key(work.keys.data(), ticks, (ticks - 1) / 2, range));
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        deviation[tick] -= median;
    }
}

/// Find the deviations, the group's median, the signals and the parts of the channels.
template <class Sample, class Real>
std::vector<BoardChannel> find_members(const Sample* from, std::int64_t ticks,
                                       const std::vector<std::int64_t>& rows, const CoherentNoiseRule& rule,
                                       Workspace<Real>& work) {
    std::vector<BoardChannel> members(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        Real* deviation = work.deviations.data() + static_cast<std::int64_t>(i) * ticks;
        find_deviation(from + rows[i] * ticks, ticks, work, deviation);
        members[i].raw = board_waves::spread(deviation, ticks, work.keys.data(), work.bad_ticks(i));
    }
    const double max_raw =
        rule.max_noise * lower_median(members, [](const BoardChannel& each) { return each.raw; });
    std::vector<const Real*> quiet;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        members[i].quiet = members[i].raw > 0 && members[i].raw <= max_raw;
        if (members[i].quiet) {
            quiet.push_back(work.deviations.data() + static_cast<std::int64_t>(i) * ticks);
        }
    }
    if (quiet.empty()) {
        return members;
    }
    board_waves::medians_over_rows(quiet, ticks, work.common.data());
    const double common_noise = mark_common(ticks, rule, work);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Real* deviation = work.deviations.data() + static_cast<std::int64_t>(i) * ticks;
        std::uint8_t* signal = work.signal.data() + static_cast<std::int64_t>(i) * ticks;
        std::copy(work.common_signal.begin(), work.common_signal.end(), signal);
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            work.difference[tick] = deviation[tick] - work.common[tick];
        }
        const std::uint8_t* bad = work.bad_ticks(i);
        members[i].rest = board_waves::spread(work.difference.data(), ticks, work.keys.data(), bad);
        board_waves::mark_beyond(work.difference.data(), ticks, rule.threshold * members[i].rest, signal);
        mark_smoothed(work.difference.data(), ticks, rule.threshold, rule.half_smoothing, work, signal, bad);
        for (std::int64_t tick = 0; bad != nullptr && tick < ticks; ++tick) {
            signal[tick] |= bad[tick];
        }
        board_waves::widen(signal, ticks, rule.padding);
        members[i].coupling = members[i].raw > 0 ? fitted_coupling(deviation, work.common.data(), signal,
                                                                   ticks, members[i].rest, common_noise)
                                                 : 0;
    }
    const double max_rest = rule.max_noise * lower_median(members, [](const BoardChannel& each) {
                                return each.quiet ? each.rest : 0;
                            });
    for (BoardChannel& member : members) {
        member.in_mean = member.quiet && member.coupling == 1 && member.rest <= max_rest;
    }
    return members;
}

template <class Sample, class Real>
void clean_group(const Sample* from, Real* to, std::int64_t ticks, const std::vector<std::int64_t>& rows,
                 const CoherentNoiseRule& rule, Workspace<Real>& work) {
    const std::vector<BoardChannel> members = find_members(from, ticks, rows, rule, work);
    std::fill(work.sum.begin(), work.sum.end(), Real{0});
    std::fill(work.count.begin(), work.count.end(), 0);
    std::int64_t in_mean = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (members[i].in_mean) {
            ++in_mean;
            const std::int64_t offset = static_cast<std::int64_t>(i) * ticks;
            board_waves::add_trusted(work.deviations.data() + offset, work.signal.data() + offset, ticks,
                                     work.sum.data(), work.count.data());
        }
    }
    const double min_count = std::max(2.0, rule.min_fraction * static_cast<double>(in_mean));
    for (std::int64_t tick = 0; tick < ticks; ++tick) {
        work.estimated[tick] = work.count[tick] >= min_count;
        work.mean[tick] =
            work.estimated[tick] ? work.sum[tick] / static_cast<Real>(work.count[tick]) : Real{0};
    }
    board_waves::bridge(work.estimated, work.mean);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::int64_t offset = static_cast<std::int64_t>(i) * ticks;
        const std::uint8_t* signal = work.signal.data() + offset;
        const Real* deviation = work.deviations.data() + offset;
        const Sample* own = from + rows[i] * ticks;
        Real* result = to + rows[i] * ticks;
        const auto scale = static_cast<Real>(members[i].coupling);
        for (std::int64_t tick = 0; tick < ticks; ++tick) {
            const bool is_part = members[i].in_mean && work.estimated[tick] && signal[tick] == 0;
            const Real noise =
                is_part ? (work.sum[tick] - deviation[tick]) / static_cast<Real>(work.count[tick] - 1)
                        : scale * work.mean[tick];
            result[tick] = static_cast<Real>(own[tick]) - noise;
        }
    }
}

/// Flag the ticks in ranges.
/// @param ranges  begin and end tick of each; equal for no range
/// @return empty without ranges
std::vector<std::uint8_t> flagged(const std::int32_t* ranges, std::int64_t count, std::int64_t ticks) {
    std::vector<std::uint8_t> flags;
    for (std::int64_t range = 0; range < count; ++range) {
        const std::int64_t begin = std::max(ranges[2 * range], 0);
        const std::int64_t end = std::min<std::int64_t>(ranges[2 * range + 1], ticks);
        if (begin < end) {
            flags.resize(static_cast<std::size_t>(ticks));
            std::fill(flags.begin() + begin, flags.begin() + end, 1);
        }
    }
    return flags;
}

/// @param bad  int32 (..., channel, range, 2), contiguous
template <class Sample, class Real>
void clean_groups(const at::Tensor& waveforms, const bool* good, const at::Tensor& groups,
                  const at::Tensor& bad, const CoherentNoiseRule& rule, at::Tensor& result) {
    const std::int64_t ticks = waveforms.size(-1);
    const std::int64_t members = groups.size(1);
    const auto* from = waveforms.const_data_ptr<Sample>();
    const auto* members_of = groups.const_data_ptr<std::int64_t>();
    auto* to = result.mutable_data_ptr<Real>();
    const auto* bad_ranges = bad.const_data_ptr<std::int32_t>();
    const std::int64_t ranges = bad.size(-2);
    at::parallel_for(0, groups.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
        Workspace<Real> work(members, ticks);
        std::vector<std::int64_t> rows;
        for (std::int64_t group = begin; group < end; ++group) {
            rows.clear();
            for (std::int64_t member = 0; member < members; ++member) {
                const std::int64_t row = members_of[group * members + member];
                if (good[row]) {
                    work.bad[rows.size()] = flagged(bad_ranges + 2 * ranges * row, ranges, ticks);
                    rows.push_back(row);
                } else {
                    std::copy_n(from + row * ticks, ticks, to + row * ticks);
                }
            }
            if (!rows.empty()) {
                clean_group(from, to, ticks, rows, rule, work);
            }
        }
    });
}

at::Tensor remove_coherent_noise_cpu(const at::Tensor& waveforms, const at::Tensor& good,
                                     const at::Tensor& groups, const at::Tensor& bad, double threshold,
                                     double common_threshold, std::int64_t half_smoothing,
                                     std::int64_t padding, double min_fraction, double max_noise) {
    const CoherentNoiseRule rule{threshold, common_threshold, half_smoothing,
                                 padding,   min_fraction,     max_noise};
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    auto result = at::empty(waveforms.sizes(), waveforms.options().dtype(type));
    if (waveforms.numel() == 0) {
        return result;
    }
    const auto input = waveforms.contiguous();
    const auto flags = good.contiguous();
    const auto rows = groups.contiguous();
    const auto ranges = bad.contiguous();
    const bool* good_rows = flags.const_data_ptr<bool>();
    switch (waveforms.scalar_type()) {
    case at::kShort:
        clean_groups<std::int16_t, float>(input, good_rows, rows, ranges, rule, result);
        break;
    case at::kFloat:
        clean_groups<float, float>(input, good_rows, rows, ranges, rule, result);
        break;
    default:
        clean_groups<double, double>(input, good_rows, rows, ranges, rule, result);
        break;
    }
    return result;
}

const Operator remove_coherent_noise_op{
    "remove_coherent_noise(Tensor waveforms, Tensor good, Tensor groups, Tensor bad_ticks, float threshold, "
    "float common_threshold, int half_smoothing, int padding, float min_fraction, float max_noise) -> Tensor",
    remove_coherent_noise_cpu, remove_coherent_noise_composite};

} // namespace

at::Tensor remove_coherent_noise(const at::Tensor& waveforms, const at::Tensor& good,
                                 const at::Tensor& groups, const CoherentNoiseRule& rule,
                                 const at::Tensor& bad_ticks) {
    const char* name = "remove_coherent_noise";
    require_waveforms(name, waveforms, good);
    require_tensor(groups.defined() && groups.scalar_type() == at::kLong && groups.dim() == 2 &&
                       groups.numel() == good.numel(),
                   name, "groups", groups,
                   "int64 (group, member), " + std::to_string(good.numel()) + " rows in total");
    auto shape = good.sizes().vec();
    shape.insert(shape.end(), {bad_ticks.defined() && bad_ticks.dim() >= 2 ? bad_ticks.size(-2) : 0, 2});
    require_tensor(!bad_ticks.defined() ||
                       (bad_ticks.scalar_type() == at::kInt && bad_ticks.sizes() == at::IntArrayRef(shape)),
                   name, "bad ticks", bad_ticks,
                   "int32 (..., channel, range, 2), for the rows of " + describe_tensor(waveforms));
    const auto bad = bad_ticks.defined() ? bad_ticks : at::empty(shape, good.options().dtype(at::kInt));
    return remove_coherent_noise_op(waveforms, good, groups, bad, rule.threshold, rule.common_threshold,
                                    rule.half_smoothing, rule.padding, rule.min_fraction, rule.max_noise);
}

} // namespace spng
