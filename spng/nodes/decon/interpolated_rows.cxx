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

} // namespace

void interpolate_rows_composite(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    NVTX_SCOPED_RANGE("Decon::interpolate");
    const at::Tensor single = single_rows(good, cyclic);
    if (!spectrum.is_cpu()) { // a device would have to wait for the count of rows
        const at::Tensor mean = at::roll(spectrum, 1, 1).add_(at::roll(spectrum, -1, 1)).mul_(0.5);
        spectrum.copy_(at::where(single.unsqueeze(-1), mean, spectrum));
        return;
    }
    const std::int64_t channels = spectrum.size(1);
    const at::Tensor found = single.nonzero();
    for (std::int64_t i = 0; i < found.size(0); ++i) {
        const auto view = found[i][0].item<std::int64_t>(), channel = found[i][1].item<std::int64_t>();
        const at::Tensor rows = spectrum.select(0, view);
        at::Tensor row = rows.select(0, channel);
        row.copy_(rows.select(0, (channel + channels - 1) % channels));
        row.add_(rows.select(0, (channel + 1) % channels)).mul_(0.5);
    }
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

TORCH_LIBRARY_IMPL(spng, CompositeExplicitAutograd, library) {
    library.impl("interpolate_rows_", interpolate_rows_composite);
}

} // namespace spng
