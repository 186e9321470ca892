// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/input_check.h"

#include "spng/core/log/log.h"
#include "spng/core/nearest.h"
#include "spng/core/unit_text.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

// Shorter readouts do not resolve much of the low-frequency noise.
constexpr std::int64_t min_ticks = 500;
constexpr std::size_t min_shapes = 100, max_shapes = 500;
constexpr double noise_free =
    0.1; // share of the expected noise, below which the input is a simulation without noise

double median_of(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

template <class T>
InputMeasurement::Channel measured(const T* samples, std::int64_t ticks, double expected_noise,
                                   bool with_shapes, std::int64_t level_samples) {
    InputMeasurement::Channel result;
    result.expected_noise = expected_noise;
    result.level = channel_level(samples, ticks, level_samples);
    // The lower bound keeps small bumps of a simulation without noise from counting as pulses.
    const double sigma = std::max(result.level.rms, expected_noise > 0 ? expected_noise / 2 : 1.0);
    result.pulses = find_pulses(samples, ticks, result.level.median, sigma);
    if (with_shapes) {
        result.products = noise_products(samples, ticks, result.level.median, sigma);
    }
    return result;
}

} // namespace

InputMeasurement::InputMeasurement(const InputCheck& check, Depth depth)
    : m_check(check), m_depth(depth), m_min_channels(depth == Depth::whole ? 10 : 4),
      m_min_pulses(depth == Depth::whole ? 20 : 6) {
    for (const auto& [plane, expected] : check.expectations()) {
        PlaneState& state = m_planes[plane];
        state.noise_done = expected.noise.empty();
        state.shaping_done = expected.shapes == nullptr || depth == Depth::glance;
    }
}

std::vector<InputMeasurement::View> InputMeasurement::measure(const ViewGroup& group,
                                                              const Waveforms& samples_of_group) const {
    const auto& [waveforms, good, ids, channels] = samples_of_group;
    const bool is_whole = m_depth == Depth::whole;
    const std::int64_t level_samples = is_whole ? 2048 : 500;
    const std::int64_t rows = waveforms.size(1), ticks = waveforms.size(2);
    const auto* is_good = good.const_data_ptr<bool>();
    const auto* id_of = ids.const_data_ptr<std::int32_t>();
    std::vector<View> views;
    for (std::size_t view = 0; ticks >= min_ticks && view < group.views.size(); ++view) {
        const std::int64_t first = static_cast<std::int64_t>(view) * rows;
        const auto measured_ones = measured_rows(is_good + first, rows, channels);
        View& seen =
            views.emplace_back(View{plane_of(group, view), std::vector<Channel>(measured_ones.size())});
        const auto& expected = m_check.expectation(seen.plane);
        const bool with_shapes = is_whole && expected.shapes != nullptr;
        const auto noise_of = [&](std::int64_t row) {
            const auto found = expected.noise.find(id_of[first + row]);
            return found == expected.noise.end() ? 0.0 : found->second;
        };
        AT_DISPATCH_V2(waveforms.scalar_type(), "InputMeasurement", AT_WRAP([&] {
                           const auto* samples = waveforms.const_data_ptr<scalar_t>();
                           const auto count = static_cast<std::int64_t>(seen.channels.size());
                           at::parallel_for(0, count, 8, [&](std::int64_t begin, std::int64_t end) {
                               for (std::int64_t i = begin; i < end; ++i) {
                                   const auto index = static_cast<std::size_t>(i);
                                   const std::int64_t row = measured_ones[index];
                                   seen.channels[index] = measured(samples + (first + row) * ticks, ticks,
                                                                   noise_of(row), with_shapes, level_samples);
                               }
                           });
                       }),
                       at::kShort, at::kFloat, at::kDouble);
    }
    return views;
}

void InputMeasurement::add(const std::vector<View>& views) {
    for (const View& view : views) {
        const bool in_order_is_positive = m_check.expectation(view.plane).lobes_in_order;
        PlaneState& state = m_planes.at(view.plane);
        for (const Channel& channel : view.channels) {
            if (channel.expected_noise > 0 && channel.level.rms > 0 && !state.noise_done) {
                state.noise.push_back(channel.level.rms);
                state.noise_ratio.push_back(channel.level.rms / channel.expected_noise);
            }
            state.channels_with_pulses += channel.pulses.empty() ? 0 : 1;
            for (const Pulse& pulse : channel.pulses) {
                state.polarity.push_back(pulse.polarity);
                state.lobes += pulse.lobe_distance != 0 ? 1 : 0;
                state.lobes_in_order +=
                    pulse.lobe_distance != 0 && (pulse.lobe_distance > 0) == in_order_is_positive ? 1 : 0;
            }
            if (!state.shaping_done) {
                state.products += channel.products;
                for (const Pulse& pulse : channel.pulses) {
                    if (!pulse.shape.empty() && state.shapes.size() < max_shapes) {
                        state.shapes.push_back(pulse.shape);
                    }
                }
            }
        }
    }
}

std::vector<ErrorText> InputMeasurement::compare() {
    std::vector<ErrorText> problems;
    std::vector<int> anodes; // of the problems
    ++m_events;
    m_finished = true;
    for (auto& [plane, state] : m_planes) {
        compare_noise(plane, state, problems);
        compare_polarity(plane, state, problems);
        compare_shaping(plane, state, problems);
        anodes.resize(problems.size(), plane.first);
        m_finished = m_finished && state.noise_done && state.polarity_done && state.shaping_done;
    }
    for (std::size_t i = 0; i < problems.size(); ++i) {
        problems[i].hint = fitting_alternatives(anodes[i]) + problems[i].hint;
    }
    m_finished = m_finished || m_events >= m_check.config().max_events;
    if (m_finished && m_depth == Depth::whole) {
        log::debug(m_check.name().text(), [&] {
            std::string text = "input compared after " + std::to_string(m_events) + " events";
            for (const auto& [plane, state] : m_planes) {
                text += "; " + instrument::plane_name(plane) + ": " + std::to_string(state.polarity.size()) +
                        " pulses" + (state.polarity_done ? "" : ", not enough") + ", " +
                        std::to_string(state.shapes.size()) + " for the shape" +
                        (state.shaping_done ? "" : ", not enough");
            }
            return text;
        });
    }
    return problems;
}

std::string InputMeasurement::fitting_alternatives(int anode) const {
    const auto& config = m_check.config();
    const auto fits = [&](const AlternativeConfig& other) {
        return std::ranges::all_of(m_planes, [&](const auto& each) {
            const auto& [plane, state] = each;
            const auto &noise = state.report.noise, &polarity = state.report.polarity;
            const double ratio = noise ? noise->seen / noise->expected / other.gain : 1;
            const bool collects = std::ranges::count(other.collecting, plane.second) > 0;
            const double difference = polarity ? polarity->seen - (collects ? 1 : 0) : 0;
            return plane.first != anode || (ratio >= config.min_noise && ratio <= config.max_noise &&
                                            std::abs(difference) <= config.max_polarity_difference);
        });
    };
    const bool is_as_described = std::ranges::all_of(m_planes, [&](const auto& each) {
        const auto& report = each.second.report;
        return each.first.first != anode ||
               ((!report.noise || report.noise->fits) && (!report.polarity || report.polarity->fits));
    });
    std::vector<std::string> names;
    for (const AlternativeConfig& other : config.alternatives) {
        if (other.anode == anode && !is_as_described && fits(other)) {
            names.push_back("-A detname=" + other.detname);
        }
    }
    return names.empty() ? "" : joined(names, " or ") + " fits noise and polarity; or ";
}

void InputMeasurement::compare_noise(const InputCheck::Plane& plane, PlaneState& state,
                                     std::vector<ErrorText>& problems) {
    if (state.noise_done || state.noise_ratio.size() < m_min_channels) {
        return;
    }
    state.noise_done = true;
    const double ratio = median_of(state.noise_ratio), seen = median_of(state.noise);
    if (ratio < noise_free) {
        return;
    }
    const auto& config = m_check.config();
    const bool fits = ratio >= config.min_noise && ratio <= config.max_noise;
    state.report.noise = {seen, seen / ratio, state.noise_ratio.size(), fits};
    if (!fits) {
        problems.push_back(
            {.what = "the noise differs from the detector's",
             .where = instrument::plane_name(plane),
             .seen = format_fixed(seen, 1) + " ADC RMS, " + format_fixed(ratio) + " times the expected (" +
                     std::to_string(state.noise_ratio.size()) + " channels)",
             .expected = format_fixed(seen / ratio, 1) + " ADC RMS of the noise spectra, " +
                         format_fixed(config.min_noise) + " to " + format_fixed(config.max_noise) + " times",
             .hint = "check that gain and digitiser of the detector (detname) match the data and that the "
                     "input is in ADC counts"});
    }
}

void InputMeasurement::compare_polarity(const InputCheck::Plane& plane, PlaneState& state,
                                        std::vector<ErrorText>& problems) {
    const std::size_t channels = m_depth == Depth::whole ? m_min_channels : 2;
    if (state.polarity_done || state.polarity.size() < m_min_pulses ||
        state.channels_with_pulses < channels) {
        return;
    }
    state.polarity_done = true;
    const auto& expected = m_check.expectation(plane);
    const double seen = median_of(state.polarity), limit = m_check.config().max_polarity_difference;
    const bool fits = std::abs(seen - expected.unipolarity) <= limit;
    state.report.polarity = {seen, expected.unipolarity, state.polarity.size(), fits};
    const std::string hint =
        "check the anode (tpcid) and the detector (detname), and look for swapped planes "
        "or inverted signs";
    if (!fits) {
        problems.push_back({.what = "the polarity of the pulses differs from the response",
                            .where = instrument::plane_name(plane),
                            .seen = "polarity " + format_fixed(seen) + " (" +
                                    std::to_string(state.polarity.size()) + " pulses)",
                            .expected = format_fixed(expected.unipolarity) + " +- " + format_fixed(limit) +
                                        "; 1: collected, 0: induced, -1: inverted",
                            .hint = hint});
        return;
    }
    if (std::abs(expected.unipolarity) < 0.5 && state.lobes >= m_min_pulses) {
        const double share = static_cast<double>(state.lobes_in_order) / static_cast<double>(state.lobes);
        const bool in_order = share >= 0.3;
        state.report.lobes = {share, 1, state.lobes, in_order};
        if (!in_order) {
            problems.push_back({.what = "the pulses are inverted",
                                .where = instrument::plane_name(plane),
                                .seen = format_fixed(100 * share, 0) + " % of " +
                                        std::to_string(state.lobes) +
                                        " pulses have their lobes in the order of the response",
                                .expected = "100 %, at least 30 %",
                                .hint = hint});
        }
    }
}

void InputMeasurement::compare_shaping(const InputCheck::Plane& plane, PlaneState& state,
                                       std::vector<ErrorText>& problems) {
    if (state.shaping_done || !state.polarity_done || state.shapes.size() < min_shapes) {
        return;
    }
    // The thresholds of pulses are in units of the noise: a wrong one selects other pulses.
    if (!state.report.polarity->fits || (state.report.noise && !state.report.noise->fits)) {
        state.shaping_done = true;
        return;
    }
    const auto& expectation = m_check.expectation(plane);
    const auto [ratio, pulses] = expectation.shapes->estimate(state.shapes, state.products.autocorrelation());
    state.shaping_done = pulses >= min_shapes || state.shapes.size() >= max_shapes;
    if (pulses < min_shapes) {
        return;
    }
    const double expected = expectation.shaping, limit = m_check.config().max_shaping_difference;
    const bool fits = std::abs(ratio - 1) <= limit;
    state.report.shaping = {ratio * expected, expected, pulses, fits};
    if (!fits) {
        problems.push_back(
            {.what = "the shape of the pulses differs from the response",
             .where = instrument::plane_name(plane),
             .seen = "shaping time " + format_fixed(ratio * expected / 1000) + " us (" +
                     std::to_string(pulses) + " pulses)",
             .expected = format_fixed(expected / 1000) + " us +- " + format_fixed(100 * limit, 0) + " %",
             .hint = "with electronics of this shaping time and the described gain, all charge is " +
                     format_fixed(100 * std::abs(ratio - 1), 0) + " % too " + (ratio > 1 ? "high" : "low") +
                     "; check that shaping time and sampling period of the detector (detname) match the "
                     "data"});
    }
}

void InputMeasurement::write_to(instrument::InputReport& report) const {
    for (const auto& [plane, state] : m_planes) {
        auto& target = report.planes[plane];
        target.noise = state.report.noise;
        target.polarity = state.report.polarity;
        target.lobes = state.report.lobes;
        target.shaping = state.report.shaping;
    }
}

} // namespace spng
