#pragma once
// How a long readout is cut into overlapping windows of one shape (docs/decisions/long-readouts.md).

#include "spng/core/field.h"

#include <cstdint>
#include <optional>

namespace spng {

/// `before` and `core` are multiples of `align`, and `after` is at most `core`, so that what one window sees
/// beyond its core ends within the core of the next.
struct WindowGrid {
    std::int64_t core = 0;
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::int64_t align = 1;
    static constexpr auto fields() {
        using C = WindowGrid;
        return std::make_tuple(
            field(&C::core, "core", "ticks", at_least(0),
                  "from one window to the next, and what a window answers for; 0: readouts are never cut"),
            field(&C::before, "before", "ticks", at_least(0), "read in front of a core"),
            field(&C::after, "after", "ticks", at_least(0),
                  "read behind a core, at most as many as the core has"),
            field(&C::align, "align", "ticks", at_least(1),
                  "windows begin at multiples of this, a sample of the coarser images"));
    }

    /// Ticks of a window; readouts of at most as many are not cut.
    std::int64_t length() const { return core + before + after; }
};

/// Ticks of a window and of its core, counted from the first sample of the readout.
struct WindowPlace {
    std::int64_t begin = 0, end = 0;
    std::int64_t core_begin = 0, core_end = 0;
    bool operator==(const WindowPlace&) const = default;
};

/// Window `number` of a readout longer than grid.length(). It begins at number * core and answers for
/// [begin + before, begin + before + core), the first one also for what lies in front of that. The last one
/// is moved back so that it ends with the readout, and answers for all that is left: more than `after` ticks
/// and at most core + after. Where the readout's end is no multiple of `align`, it is up to align - 1 ticks
/// shorter than the others.
/// @param ticks        of the readout, or of as much of it as is known
/// @param is_complete  no more ticks will come
/// @return nothing when more ticks must be known to tell, or when there is no such window
std::optional<WindowPlace> window_at(const WindowGrid& grid, std::int64_t number, std::int64_t ticks,
                                     bool is_complete);

} // namespace spng
