#pragma once
// CUPTI's time on the clock of the recording. Where CUPTI takes a clock of ours, the two are the same; where
// it does not, pairs of readings are taken from time to time, and times between two pairs are interpolated.

#include "profiling/recorder/device/cupti_functions.h"
#include "profiling/recorder/file/values.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace spng::recorder {

class CuptiClock {
public:
    /// Give CUPTI our clock. To be called before any kind of activity is enabled.
    void begin(const CuptiFunctions& cupti);
    /// Read both clocks; does nothing when they are the same.
    void compare(const CuptiFunctions& cupti);
    TimePoint convert(std::uint64_t cupti_time) const;

    /// For the manifest: which of the two ways, and how far two readings of a pair may be apart.
    std::string description() const;

private:
    struct Pair {
        std::int64_t theirs, ours;
    };
    mutable std::mutex m_mutex;
    bool m_same = false;
    std::int64_t m_uncertainty = 0; ///< of the worst pair, ns
    std::vector<Pair> m_pairs;      ///< by time
};

} // namespace spng::recorder
