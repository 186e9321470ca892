// SPDX-License-Identifier: Apache-2.0
#pragma once
// Conversion of CUPTI's time to the clock of the recording. CUPTI 11.8 and later uses the recorder's clock.
// For earlier versions both clocks are read at intervals, and times between two readings are interpolated.

#include "profiling/recorder/device/cupti_functions.h"
#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace spng::recorder {

class CuptiClock {
public:
    /// Set the recorder's clock in CUPTI if it supports that. Call this before any kind of activity is
    /// enabled.
    void begin(const CuptiFunctions& cupti);
    /// Read both clocks. Do nothing if CUPTI uses the recorder's clock.
    void compare(const CuptiFunctions& cupti);
    /// Convert a time of CUPTI to the clock of the recording.
    TimePoint convert(std::uint64_t cupti_time) const;

    /// Return a description for the manifest: the clock that CUPTI uses and the uncertainty of the
    /// conversion.
    std::string description() const;

private:
    /// One reading of both clocks [ns].
    struct Pair {
        std::int64_t cupti, recorder;
    };
    mutable std::mutex m_mutex;
    bool m_is_shared = false;       ///< CUPTI uses the recorder's clock
    std::int64_t m_uncertainty = 0; ///< maximum of all pairs [ns]
    std::vector<Pair> m_pairs;      ///< sorted by time
};

} // namespace spng::recorder
