#pragma once
// Pages of memory that the system had to hand out while events were worked on (minor faults). Each costs
// about a microsecond and empties caches; buffers that are given back after every event and asked for anew
// show as thousands of them per event.

#include <cstdint>

namespace spng::instrument {

/// Minor faults of this process so far, all threads.
std::int64_t minor_page_faults() noexcept;

/// Note how many there are at the end of an event. Thread-safe; takes about a microsecond.
void note_page_faults_of_event() noexcept;

/// Mean over the events from the second to the last that ended in this process, each counted from the end of
/// the one before; not_measured (-1) with fewer than two. What is prepared at first use is in the first
/// event.
double page_faults_per_later_event() noexcept;

} // namespace spng::instrument
