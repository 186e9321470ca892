// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings about the input of a job, event by event: counts of channels, comparisons, and their warnings.

#include "spng/core/notes.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/input_check/input_check.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng {

/// Accumulated input report of a job. Thread-safe. An event that is retried after running out of memory
/// counts once.
class InputTally {
public:
    /// @param logger         name of the component that warns
    /// @param max_bad_share  share of unusable or saturated channels of an anode above which it warns
    /// @param adc_bits       resolution of the digitiser
    /// @param check          null: do not compare the input with predictions
    /// @param counts_dead    whether channels whose samples are all equal are dead; false for charge, whose views may
    ///                       also have few channels
    InputTally(std::string logger, double max_bad_share, int adc_bits, const InputCheck* check,
               bool counts_dead = true);

    using Waveforms = InputMeasurement::Waveforms;
    /// One group of an event after the selection of its channels.
    struct Selected {
        const ViewGroup* group;
        /// Returns these channels of the group, or all and which of them to measure.
        std::function<Waveforms(EveryChannel channels)> waveforms;
        std::vector<instrument::ChannelCounts> counts; ///< by view
    };

    /// Count an event, compare it with the predictions, and warn. The first events are measured as a whole until there is
    /// enough for every comparison; of each later one a few channels, and as a whole if these do not fit. Each kind of warning
    /// is logged once per anode or plane. Threads measure their events at the same time.
    /// @return the warnings about this event, logged or not, as the note "warnings"; empty if there is none
    /// @throws Error(Input) with --strict: instead of a warning, and for every event after a failed
    ///         comparison of the first events; not for a few saturated channels
    Notes add(std::uint64_t event, const std::vector<Selected>& groups);

    instrument::InputReport report() const;

private:
    using Views = std::vector<std::vector<InputMeasurement::View>>; ///< by group
    using Lines = std::map<std::string, std::string>;               ///< warnings about one event, by kind

    /// Measure all channels of an event.
    static Views measured(const InputMeasurement& measurement, const std::vector<Selected>& groups);
    /// Measure 8 channels of each view, other ones in each event.
    static Views glanced_at(const InputMeasurement& measurement, std::uint64_t event,
                            const std::vector<Selected>& groups);
    /// Add the measurements of an event to those of the job, and compare them if there are enough.
    void compare_job(const Views& views);
    /// Compare one event with the predictions: a glance, and all channels if it finds something. The result depends on the
    /// event alone, so that its note does not depend on threads.
    /// @param is_new  whether it may count for the comparisons of the job
    void compare_event(std::uint64_t event, const std::vector<Selected>& groups, bool is_new, Lines& lines);
    /// Count an event, unless it was counted before.
    /// @param of_anode  gets the counts of each anode
    /// @return whether it is new
    bool count(std::uint64_t event, const std::vector<Selected>& groups,
               std::map<int, instrument::ChannelCounts>& of_anode);
    void warn_about_channels(int anode, std::uint64_t event, const instrument::ChannelCounts& counts,
                             Lines& lines);
    /// Warn about views with too few usable channels to measure their noise.
    void warn_about_few_channels(std::uint64_t event, const Selected& group);
    void warn_about_saturation(int anode, const std::string& where, const instrument::ChannelCounts& counts);
    /// Add the text to the lines, and log it unless a text of this kind was logged before.
    void warn(const ErrorText& text, const std::string& kind, Lines& lines);

    const std::string m_logger;
    const double m_max_bad_share;
    const int m_adc_bits;
    const bool m_counts_dead;
    mutable std::mutex m_mutex;
    std::vector<bool> m_counted; ///< by event
    instrument::InputReport m_report;
    std::optional<InputMeasurement> m_measurement;
    std::vector<ErrorText> m_misfits;
    std::set<int> m_warned_saturated, m_warned_many_saturated; ///< anodes
    std::set<std::string> m_warned_few;                        ///< anodes and views
    std::set<std::string> m_logged;                            ///< kinds of warnings
};

} // namespace spng
