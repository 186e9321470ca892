#include "spng/nodes/frame/window_grid.h"

namespace spng {

std::optional<WindowPlace> window_at(const WindowGrid& grid, std::int64_t number, std::int64_t ticks,
                                     bool is_complete) {
    const std::int64_t begin = number * grid.core;
    const std::int64_t core_begin = number == 0 ? 0 : begin + grid.before;
    if (begin + grid.length() < ticks) {
        return WindowPlace{begin, begin + grid.length(), core_begin, begin + grid.before + grid.core};
    }
    // The window before this one was the last when nothing lies beyond it.
    const std::int64_t seen = begin - grid.core + grid.length();
    if (!is_complete || seen >= ticks) {
        return std::nullopt;
    }
    const std::int64_t latest = ticks - grid.length();
    return WindowPlace{(latest + grid.align - 1) / grid.align * grid.align, ticks, core_begin, ticks};
}

} // namespace spng
