#pragma once
// What a job finds in its input, event by event: counts of channels, fits, and the warnings about both.

#include "spng/instrument/report/input_report.h"
#include "spng/nodes/input_check/input_check.h"

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng {

/// Thread-safe. An event that begins again, because memory ran out, counts once.
class InputTally {
public:
    /// @param logger  name of the component that warns
    /// @param max_bad_share  share of an anode's channels above which it is warned
    /// @param check  null: fits are not looked at
    InputTally(std::string logger, double max_bad_share, const InputCheck* check);

    /// One group of an event as it was selected.
    struct Selected {
        const ViewGroup* group;
        at::Tensor waveforms;                          ///< (view, channel, tick) on the host
        at::Tensor good;                               ///< (view, channel) bool on the host
        std::vector<instrument::ChannelCounts> counts; ///< of each view
    };

    /// Count an event, compare it while the check asks for more, and warn. Each kind of warning is given once
    /// for an anode or plane. Throws Error(Input) in place of the first warning under --strict, and again for
    /// every later event once the job's data do not fit.
    void add(std::uint64_t event, const std::vector<Selected>& groups);

    instrument::InputReport report() const;

private:
    void warn_about_channels(int anode, std::uint64_t event, const instrument::ChannelCounts& counts);
    void warn(const ErrorText& text);

    const std::string m_logger;
    const double m_max_bad_share;
    mutable std::mutex m_mutex;
    std::vector<bool> m_counted; ///< by event
    instrument::InputReport m_report;
    std::optional<InputMeasurement> m_measurement;
    std::vector<ErrorText> m_misfits;
    std::set<int> m_warned_bad, m_warned_saturated; ///< anodes
};

} // namespace spng
