// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minor page faults during events. Each costs about a microsecond and displaces cache lines. Buffers that are
// released and allocated again for every event appear as thousands of faults per event.

#include <cstdint>

namespace spng::instrument {

/// Minor faults of this process so far, all threads.
std::int64_t minor_page_faults() noexcept;

/// Store the count at the end of an event. Thread-safe; takes about a microsecond.
void note_page_faults_of_event() noexcept;

/// Forget the events so far.
void forget_page_faults_of_events() noexcept;

/// Mean of the faults per event, from the end of the first event to the end of the last; not_measured (-1) with
/// fewer than two events. The first event includes preparations at first use.
double page_faults_per_later_event() noexcept;

} // namespace spng::instrument
