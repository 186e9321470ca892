// SPDX-License-Identifier: Apache-2.0
#pragma once
// Grid of the readout windows of a long readout: they overlap and have one shape
// (docs/decisions/long-readouts.md).

#include "spng/core/field.h"

#include <cstdint>
#include <optional>

namespace spng {

/// Lengths of a readout window. `before` and `core` are multiples of `align`. `after` is at most `core`, so
/// the ticks after a core end within the next core.
struct WindowGrid {
    std::int64_t core = 0;
    std::int64_t before = 0;
    std::int64_t after = 0;
    std::int64_t align = 1;
    static constexpr auto fields() {
        using C = WindowGrid;
        return std::make_tuple(
            field(&C::core, "core", "ticks", at_least(0),
                  "output ticks of a readout window, and distance to the next one; 0: never cut a readout"),
            field(&C::before, "before", "ticks", at_least(0), "ticks read before the core"),
            field(&C::after, "after", "ticks", at_least(0), "ticks read after the core, at most core"),
            field(&C::align, "align", "ticks", at_least(1),
                  "readout windows begin at multiples of this, one sample of the coarser ROI images"));
    }

    /// Ticks of a readout window. Shorter and equally long readouts are not cut.
    std::int64_t length() const { return core + before + after; }
};

/// Ticks of a readout window and of its core, counted from the first sample of the readout.
struct WindowPosition {
    std::int64_t begin = 0, end = 0;
    std::int64_t core_begin = 0, core_end = 0;
    bool operator==(const WindowPosition&) const = default;
};

/// Return the position of one readout window of a readout that is longer than grid.length(). Window `index`
/// begins at index * core; its core is [begin + before, begin + before + core). The core of the first window
/// includes its `before` ticks. The last window is moved back to end with the readout, and its core holds all
/// remaining ticks: more than `after` and at most core + after. If the end of the readout is not a multiple of
/// `align`, the last window is up to align - 1 ticks shorter than the others.
/// @param ticks        ticks of the readout that are known so far
/// @param is_complete  no more ticks will come
/// @return nothing if more ticks are needed to decide, or if there is no such window
std::optional<WindowPosition> window_at(const WindowGrid& grid, std::int64_t index, std::int64_t ticks,
                                        bool is_complete);

} // namespace spng
