// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/window_grid.h"

namespace spng {

std::optional<WindowPosition> window_at(const WindowGrid& grid, std::int64_t index, std::int64_t ticks,
                                        bool is_complete) {
    const std::int64_t begin = index * grid.core;
    const std::int64_t core_begin = index == 0 ? 0 : begin + grid.before;
    if (begin + grid.length() < ticks) {
        return WindowPosition{begin, begin + grid.length(), core_begin, begin + grid.before + grid.core};
    }
    const std::int64_t previous_end = begin - grid.core + grid.length();
    if (!is_complete || previous_end >= ticks) {
        return std::nullopt;
    }
    const std::int64_t latest = ticks - grid.length();
    return WindowPosition{(latest + grid.align - 1) / grid.align * grid.align, ticks, core_begin, ticks};
}

} // namespace spng
