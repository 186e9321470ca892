// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/interpolated_rows.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/find_operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/roll.h>
#include <ATen/ops/where.h>
#include <torch/library.h>

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

} // namespace

void interpolate_rows_composite(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    NVTX_SCOPED_RANGE("Decon::interpolate");
    const at::Tensor single = single_rows(good, cyclic);
    const at::Tensor mean = at::roll(spectrum, 1, 1).add_(at::roll(spectrum, -1, 1)).mul_(0.5);
    spectrum.copy_(at::where(single.unsqueeze(-1), mean, spectrum));
}

void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    const char* name = "interpolate_rows";
    require_tensor(spectrum.defined() && spectrum.is_complex() && spectrum.dim() == 3, name, "spectrum",
                   spectrum, "complex (view, channel, frequency)");
    require_tensor(is_mask(good) && good.sizes() == spectrum.sizes().slice(0, 2), name,
                   "mask of good channels", good, "bool, one for each row of " + describe_tensor(spectrum));
    static const auto operation =
        find_operator<decltype(interpolate_rows_composite)>("spng::interpolate_rows_");
    operation.call(spectrum, good, cyclic);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("interpolate_rows_(Tensor(a!) spectrum, Tensor good, bool cyclic) -> ()");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("interpolate_rows_", interpolate_rows_cpu);
}

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("interpolate_rows_", interpolate_rows_composite);
}

} // namespace spng
