// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/input_check/input_tally.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/input_warning.h"
#include "spng/detector/view_statistics.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace spng {
namespace {

using instrument::ChannelCounts;

std::string percent(double share) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g %%", 100 * share);
    return text;
}

/// Return the counts as text, for example "1760 absent, 3 masked".
std::string kinds_of(const ChannelCounts& counts) {
    std::string text;
    for (const auto& [kind, count] : {std::pair{"absent", counts.absent},
                                      {"NaN", counts.not_finite},
                                      {"out of range", counts.out_of_range},
                                      {"dead", counts.constant},
                                      {"masked", counts.masked}}) {
        if (count > 0) {
            text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
        }
    }
    return text;
}

} // namespace

InputTally::InputTally(std::string logger, double max_bad_share, int adc_bits, const InputCheck* check,
                       bool counts_dead)
    : m_logger(std::move(logger)), m_max_bad_share(max_bad_share), m_adc_bits(adc_bits),
      m_counts_dead(counts_dead) {
    if (check != nullptr) {
        m_measurement.emplace(*check);
    }
}

Notes InputTally::add(std::uint64_t event, const std::vector<Selected>& groups) {
    std::map<int, ChannelCounts> of_anode;
    Lines lines;
    const bool is_new = count(event, groups, of_anode);
    if (m_measurement) {
        NVTX_SCOPED_RANGE("FrameToTorchSetFanout::check");
        compare_event(event, groups, is_new, lines);
    }
    const std::lock_guard lock(m_mutex);
    if (is_strict() && !m_misfits.empty()) {
        warn(m_misfits.front(), "", lines);
    }
    for (const auto& [anode, counts] : of_anode) {
        warn_about_channels(anode, event, counts, lines);
    }
    if (m_counts_dead) { // nothing measures noise in charge
        for (const auto& selected : groups) {
            warn_about_few_channels(event, selected);
        }
    }
    m_report.doubtful_events += is_new && !lines.empty() ? 1 : 0;
    Notes notes;
    for (const auto& [kind, line] : lines) {
        merge_notes(notes, {{"warnings", line}});
    }
    return notes;
}

InputTally::Views InputTally::measured(const InputMeasurement& measurement,
                                       const std::vector<Selected>& groups) {
    Views views;
    for (const auto& selected : groups) {
        views.push_back(measurement.measure(*selected.group, selected.waveforms({})));
    }
    return views;
}

InputTally::Views InputTally::glanced_at(const InputMeasurement& measurement, std::uint64_t event,
                                         const std::vector<Selected>& groups) {
    constexpr std::int64_t wanted = 8;
    Views views;
    for (const auto& selected : groups) {
        const std::int64_t channels = selected.group->ids.size(1);
        const std::int64_t stride = std::max<std::int64_t>(1, channels / wanted);
        const auto first = static_cast<std::int64_t>(event % static_cast<std::uint64_t>(stride));
        views.push_back(measurement.measure(*selected.group, selected.waveforms({first, stride})));
    }
    return views;
}

void InputTally::compare_job(const Views& views) {
    for (const auto& of_group : views) {
        m_measurement->add(of_group);
    }
    const auto misfits = m_measurement->compare();
    m_measurement->write_to(m_report);
    m_misfits.insert(m_misfits.end(), misfits.begin(), misfits.end());
    Lines of_job; // in the log only: which events they come from depends on the order of threads
    for (const auto& misfit : misfits) {
        warn(misfit, misfit.what + misfit.where, of_job);
    }
}

void InputTally::compare_event(std::uint64_t event, const std::vector<Selected>& groups, bool is_new,
                               Lines& lines) {
    using Depth = InputMeasurement::Depth;
    std::unique_lock lock(m_mutex);
    const bool is_of_job = is_new && !m_measurement->finished();
    lock.unlock();
    std::optional<Views> whole;
    if (is_of_job) {
        whole = measured(*m_measurement, groups);
        lock.lock();
        if (!m_measurement->finished()) {
            compare_job(*whole);
        }
        lock.unlock();
    }
    const auto misfits_of = [&](Depth depth, const Views& views) {
        InputMeasurement own(m_measurement->check(), depth);
        for (const auto& of_group : views) {
            own.add(of_group);
        }
        return own.compare();
    };
    const InputMeasurement glance(m_measurement->check(), Depth::glance);
    if (misfits_of(Depth::glance, glanced_at(glance, event, groups)).empty()) {
        return;
    }
    const auto misfits = misfits_of(Depth::whole, whole ? *whole : measured(*m_measurement, groups));
    lock.lock();
    for (auto misfit : misfits) {
        const std::string kind = misfit.what + misfit.where;
        misfit.where += ", event " + std::to_string(event);
        warn(misfit, kind, lines);
    }
}

bool InputTally::count(std::uint64_t event, const std::vector<Selected>& groups,
                       std::map<int, ChannelCounts>& of_anode) {
    const std::lock_guard lock(m_mutex);
    if (m_counted.size() <= event) {
        m_counted.resize(event + 1);
    }
    const bool is_first_time = !m_counted[event];
    m_counted[event] = true;
    for (const auto& selected : groups) {
        for (std::size_t view = 0; view < selected.counts.size(); ++view) {
            ChannelCounts counts = selected.counts[view];
            counts.constant = m_counts_dead ? counts.constant : 0;
            const auto plane = plane_of(*selected.group, view);
            of_anode[plane.first] += counts;
            if (is_first_time) {
                m_report.planes[plane].counts += counts;
            }
        }
    }
    m_report.events += is_first_time ? 1 : 0;
    return is_first_time;
}

void InputTally::warn_about_channels(int anode, std::uint64_t event, const ChannelCounts& counts,
                                     Lines& lines) {
    const auto share_of = [&](std::uint64_t channels) {
        return static_cast<double>(channels) / static_cast<double>(counts.channels);
    };
    const std::string where = "anode " + std::to_string(anode) + ", event " + std::to_string(event);
    const std::string expected = "at most " + percent(m_max_bad_share) + " of the channels";
    const std::string hint = "allow a larger share with -A max_bad_share=SHARE";
    const std::string kind = " channels of anode " + std::to_string(anode);
    if (share_of(counts.unusable()) > m_max_bad_share) {
        warn({.what = "too many unusable channels",
              .where = where,
              .seen = std::to_string(counts.unusable()) + " of " + std::to_string(counts.channels) +
                      " channels: " + kinds_of(counts),
              .expected = expected,
              .hint = hint},
             "unusable" + kind, lines);
    }
    if (share_of(counts.saturated) > m_max_bad_share) {
        m_warned_many_saturated.insert(anode);
        warn({.what = "too many saturated channels",
              .where = where,
              .seen = std::to_string(counts.saturated) + " of " + std::to_string(counts.channels) +
                      " channels, " + std::to_string(counts.saturated_samples) + " samples",
              .expected = expected,
              .hint = hint},
             "saturated" + kind, lines);
    } else if (counts.saturated > 0) {
        warn_about_saturation(anode, where, counts);
    }
}

void InputTally::warn_about_few_channels(std::uint64_t event, const Selected& selected) {
    for (std::size_t view = 0; view < selected.counts.size(); ++view) {
        const ChannelCounts& counts = selected.counts[view];
        const auto usable = static_cast<std::int64_t>(counts.channels - counts.unusable());
        const std::string where = "anode " + std::to_string(plane_of(*selected.group, view).first) +
                                  ", view " + selected.group->view_names[view];
        if (usable == 0 || usable >= min_measured_channels || counts.absent == 0 ||
            !m_warned_few.insert(where).second) {
            continue;
        }
        // Not an error with --strict: the share of unusable channels has its own limit.
        m_report.warnings.push_back(log_input_warning(
            m_logger,
            {.what = "too few channels of a view to measure its noise",
             .where = where + ", event " + std::to_string(event),
             .seen = std::to_string(usable) + " of " + std::to_string(counts.channels) + " channels",
             .expected = "at least " + std::to_string(min_measured_channels),
             .hint =
                 "the noise spectra of the detector replace the measurement; without their file the noise of "
                 "these channels is used"}));
    }
}

void InputTally::warn_about_saturation(int anode, const std::string& where, const ChannelCounts& counts) {
    if (m_warned_many_saturated.contains(anode) || !m_warned_saturated.insert(anode).second) {
        return;
    }
    const std::string highest = std::to_string((std::int64_t{1} << m_adc_bits) - 1);
    // Not an error with --strict: real events with showers or stopping particles have such samples.
    m_report.warnings.push_back(log_input_warning(
        m_logger,
        {.what = "saturated samples, whose charge is too low",
         .where = where,
         .seen = std::to_string(counts.saturated_samples) + " samples at 0 or " + highest + " on " +
                 std::to_string(counts.saturated) + " of " + std::to_string(counts.channels) + " channels (" +
                 percent(static_cast<double>(counts.saturated) / static_cast<double>(counts.channels)) + ")",
         .expected = "samples from 1 to " + std::to_string((std::int64_t{1} << m_adc_bits) - 2) + " of the " +
                     std::to_string(m_adc_bits) + "-bit digitiser",
         .hint = "the mask 'saturated' of each output frame lists them, and its note 'saturated' "
                 "counts them"}));
}

void InputTally::warn(const ErrorText& text, const std::string& kind, Lines& lines) {
    if (is_strict() || m_logged.insert(kind).second) {
        m_report.warnings.push_back(warn_about_input(m_logger, text));
    }
    lines.emplace(kind, input_warning_line(text));
}

instrument::InputReport InputTally::report() const {
    const std::lock_guard lock(m_mutex);
    return m_report;
}

} // namespace spng
