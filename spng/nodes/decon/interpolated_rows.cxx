// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/interpolated_rows.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/ops/roll.h>

namespace spng {
namespace {

/// Return the mask (view, channel) of the rows to replace.
at::Tensor single_rows(const at::Tensor& good, bool cyclic) {
    at::Tensor single =
        good.logical_not().logical_and_(at::roll(good, 1, 1)).logical_and_(at::roll(good, -1, 1));
    if (!cyclic && good.size(1) > 0) {
        single.select(1, 0).fill_(false);
        single.select(1, -1).fill_(false);
    }
    return single;
}

/// Only the replaced rows cost anything.
void interpolate_rows_cpu(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    NVTX_SCOPED_RANGE("Decon::interpolate");
    const at::Tensor single = single_rows(good, cyclic).contiguous();
    const bool* is_single = single.const_data_ptr<bool>();
    const std::int64_t channels = spectrum.size(1);
    for (std::int64_t row = 0; row < single.numel(); ++row) {
        if (is_single[row]) {
            const at::Tensor rows = spectrum.select(0, row / channels);
            const std::int64_t channel = row % channels;
            const auto neighbour = [&](std::int64_t by) { return rows.select(0, (channel + by) % channels); };
            rows.select(0, channel).copy_(neighbour(channels - 1)).add_(neighbour(1)).mul_(0.5);
        }
    }
}

const Operator interpolate_rows_op{"interpolate_rows_(Tensor(a!) spectrum, Tensor good, bool cyclic) -> ()",
                                   interpolate_rows_cpu, kernels::interpolate_rows};

} // namespace

void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    const char* name = "interpolate_rows";
    require_tensor(spectrum.defined() && spectrum.is_complex() && spectrum.dim() == 3, name, "spectrum",
                   spectrum, "complex (view, channel, frequency)");
    require_tensor(is_mask(good) && good.sizes() == spectrum.sizes().slice(0, 2), name,
                   "mask of good channels", good, "bool, one for each row of " + describe_tensor(spectrum));
    interpolate_rows_op(spectrum, good, cyclic);
}

} // namespace spng
