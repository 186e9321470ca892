// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings about the input of a job, event by event: counts of channels, comparisons, and their warnings.

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

    /// Waveforms of a group, cleaned.
    struct Waveforms {
        at::Tensor waveforms; ///< (view, channel, tick) on the host
        at::Tensor good;      ///< (view, channel) bool on the host
    };
    /// One group of an event after the selection of its channels.
    struct Selected {
        const ViewGroup* group;
        std::function<Waveforms()> waveforms;          ///< called only for an event that is measured
        std::vector<instrument::ChannelCounts> counts; ///< by view
    };

    /// Count an event, measure it unless the comparisons are finished, and warn. Each kind of warning is
    /// given once per anode or plane. Threads measure their events at the same time.
    /// @throws Error(Input) with --strict: instead of a warning, and for every event after a failed
    ///         comparison; not for a few saturated channels
    void add(std::uint64_t event, const std::vector<Selected>& groups);

    instrument::InputReport report() const;

private:
    /// Count an event, unless it was counted before.
    /// @param of_anode  gets the counts of each anode
    /// @return whether to measure it
    bool count(std::uint64_t event, const std::vector<Selected>& groups,
               std::map<int, instrument::ChannelCounts>& of_anode);
    void warn_about_channels(int anode, std::uint64_t event, const instrument::ChannelCounts& counts);
    /// Warn about views with too few usable channels to measure their noise.
    void warn_about_few_channels(std::uint64_t event, const Selected& group);
    void warn_about_saturation(int anode, const std::string& where, const instrument::ChannelCounts& counts);
    void warn(const ErrorText& text);

    const std::string m_logger;
    const double m_max_bad_share;
    const int m_adc_bits;
    const bool m_counts_dead;
    mutable std::mutex m_mutex;
    std::vector<bool> m_counted; ///< by event
    instrument::InputReport m_report;
    std::optional<InputMeasurement> m_measurement;
    std::vector<ErrorText> m_misfits;
    std::set<int> m_warned_bad, m_warned_saturated, m_warned_many_saturated; ///< anodes
    std::set<std::string> m_warned_few;                                      ///< anodes and views
};

} // namespace spng
