#include "spng/nodes/dnn/tick_windows.h"

#include "spng/core/tensor_checks.h"

#include <algorithm>
#include <string>

namespace spng {

std::vector<TickWindow> tick_windows(std::int64_t ticks, std::int64_t chunk, std::int64_t halo,
                                     std::int64_t multiple) {
    if (chunk == 0 || chunk >= ticks) {
        return {{0, ticks, 0, ticks}};
    }
    const std::int64_t step = rounded_down(chunk, multiple);
    require_argument(step > 0, "tick_windows", "chunk", chunk, "at least " + std::to_string(multiple));
    const std::int64_t margin = rounded_up(halo, multiple);
    std::vector<TickWindow> windows;
    for (std::int64_t begin = 0; begin < ticks; begin += step) {
        const std::int64_t end = std::min(begin + step, ticks);
        windows.push_back(
            {begin, end, std::max<std::int64_t>(begin - margin, 0), std::min(end + margin, ticks)});
    }
    return windows;
}

} // namespace spng
