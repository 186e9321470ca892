// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/page_faults.h"

#include "spng/instrument/not_measured.h"

#include <mutex>
#include <sys/resource.h>

namespace spng::instrument {
namespace {

struct Ends {
    std::mutex mutex;
    std::int64_t events = 0;
    std::int64_t at_first = 0;
    std::int64_t at_last = 0;
};

Ends ends;

} // namespace

std::int64_t minor_page_faults() noexcept {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

void note_page_faults_of_event() noexcept {
    const std::lock_guard lock(ends.mutex);
    ends.at_last = minor_page_faults();
    if (ends.events++ == 0) {
        ends.at_first = ends.at_last;
    }
}

void forget_page_faults_of_events() noexcept {
    const std::lock_guard lock(ends.mutex);
    ends.events = 0;
}

double page_faults_per_later_event() noexcept {
    const std::lock_guard lock(ends.mutex);
    return ends.events < 2
               ? static_cast<double>(not_measured)
               : static_cast<double>(ends.at_last - ends.at_first) / static_cast<double>(ends.events - 1);
}

} // namespace spng::instrument
