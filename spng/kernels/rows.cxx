// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/rows.h"

#include "spng/core/tensor_checks.h"

namespace spng::kernels {

Rows rows_of(const at::Tensor& waveforms, std::int64_t other_bytes, std::int64_t limit) {
    const std::int64_t ticks = waveforms.size(-1);
    require_argument(ticks <= 0xffffffff, "kernels", "ticks of a row", ticks,
                     "below 2^32, as counted by a kernel");
    at::Tensor samples = waveforms.reshape({-1, ticks});
    const std::int64_t bytes = (ticks * static_cast<std::int64_t>(samples.element_size()) + 7) / 8 * 8;
    const bool staged = bytes + other_bytes <= limit;
    if (!staged && ticks > 1 && samples.stride(1) != 1) {
        samples = samples.contiguous();
    }
    return {samples, samples.size(0),   ticks, samples.stride(0), samples.stride(1),
            staged,  staged ? bytes : 0};
}

at::Tensor rows_in_place(const at::Tensor& waveforms) {
    const at::Tensor rows = waveforms.reshape({-1, waveforms.size(-1)});
    return rows.size(1) > 1 && rows.stride(1) != 1 ? rows.contiguous() : rows;
}

} // namespace spng::kernels
