// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/cupti_clock.h"

#include "profiling/recorder/clock.h"

#include <algorithm>

namespace spng::recorder {
namespace {

std::uint64_t CUPTIAPI our_time() {
    return static_cast<std::uint64_t>(now().ns);
}

// Number of readings, of which the fastest is used. The thread may be interrupted between the two clocks.
constexpr int attempts = 8;

} // namespace

void CuptiClock::begin(const CuptiFunctions& cupti) {
    m_is_shared = cupti.set_clock != nullptr && cupti.set_clock(&our_time) == CUPTI_SUCCESS;
    compare(cupti);
}

void CuptiClock::compare(const CuptiFunctions& cupti) {
    if (m_is_shared) {
        return;
    }
    Pair best{};
    std::int64_t best_width = INT64_MAX;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        std::uint64_t theirs = 0;
        const std::int64_t before = now().ns;
        if (cupti.timestamp(&theirs) != CUPTI_SUCCESS) {
            return;
        }
        const std::int64_t width = now().ns - before;
        if (width < best_width) {
            best_width = width;
            best = {static_cast<std::int64_t>(theirs), before + width / 2};
        }
    }
    const std::lock_guard lock(m_mutex);
    m_uncertainty = std::max(m_uncertainty, best_width / 2);
    m_pairs.push_back(best);
}

TimePoint CuptiClock::convert(std::uint64_t cupti_time) const {
    const auto time = static_cast<std::int64_t>(cupti_time);
    if (m_is_shared) {
        return {time};
    }
    const std::lock_guard lock(m_mutex);
    if (m_pairs.empty()) {
        return {time};
    }
    const auto after =
        std::upper_bound(m_pairs.begin(), m_pairs.end(), time,
                         [](std::int64_t value, const Pair& pair) { return value < pair.cupti; });
    const Pair& nearest = after == m_pairs.begin() ? m_pairs.front() : *(after - 1);
    const std::int64_t elapsed = time - nearest.cupti;
    if (after == m_pairs.begin() || after == m_pairs.end()) {
        return {nearest.recorder + elapsed};
    }
    // The clocks run at nearly the same rate; interpolate only their small drift.
    const std::int64_t drift = (after->recorder - nearest.recorder) - (after->cupti - nearest.cupti);
    const double share = static_cast<double>(elapsed) / static_cast<double>(after->cupti - nearest.cupti);
    return {nearest.recorder + elapsed + static_cast<std::int64_t>(static_cast<double>(drift) * share)};
}

std::string CuptiClock::description() const {
    const std::lock_guard lock(m_mutex);
    return m_is_shared ? "the recorder's own"
                       : "CUPTI's, converted; " + std::to_string(m_pairs.size()) + " comparisons, +-" +
                             std::to_string(m_uncertainty) + " ns";
}

} // namespace spng::recorder
