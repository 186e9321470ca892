#pragma once
// Cutting the tick axis so that a network's memory stays bounded and its result is the same as without cuts.

#include <cstdint>
#include <vector>

namespace spng {

/// Output samples [begin, end) come from input samples [input_begin, input_end).
struct TickWindow {
    std::int64_t begin, end;
    std::int64_t input_begin, input_end;
    bool operator==(const TickWindow&) const = default;
};

/// Windows that cover [0, ticks) once. Each reads `halo` samples more on both sides, as far as there are any.
/// Chunk (down) and halo (up) are rounded to the multiple, so that the pooling grid of the network lies the
/// same in every window.
/// @param ticks     number of samples, a multiple of `multiple`
/// @param chunk     output samples of a window; 0 or at least `ticks`: one window
/// @param halo      samples on which an output depends, to each side
/// Throws Error(Internal) for a chunk smaller than `multiple`.
std::vector<TickWindow> tick_windows(std::int64_t ticks, std::int64_t chunk, std::int64_t halo,
                                     std::int64_t multiple);

constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}
constexpr std::int64_t rounded_down(std::int64_t value, std::int64_t multiple) {
    return value / multiple * multiple;
}

} // namespace spng
