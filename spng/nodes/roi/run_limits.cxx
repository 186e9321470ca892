// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/run_limits.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/where.h>

#include <tuple>

namespace spng {
namespace {

/// Return for every sample inside an ROI the first sample of the ROI.
at::Tensor first_of_run(const at::Tensor& inside, const at::Tensor& sample) {
    const auto before = at::constant_pad_nd(inside.narrow(-1, 0, inside.size(-1) - 1), {1, 0});
    const auto starts = inside.logical_and(before.logical_not());
    return std::get<0>(at::cummax(at::where(starts, sample, 0), -1));
}

/// Return for every sample inside an ROI, with the first sample of the ROI, the samples to the previous ROI.
at::Tensor gap_before(const at::Tensor& inside, const at::Tensor& sample, const at::Tensor& first,
                      std::int64_t no_gap) {
    const auto past = std::get<0>(at::cummax(at::where(inside, sample.add(1), -no_gap), -1));
    const auto previous = at::where(first.gt(0), past.gather(-1, first.sub(1).clamp_min(0)), -no_gap);
    return first.sub(previous);
}

} // namespace

RunLimits run_limits(const at::Tensor& inside, std::int64_t no_gap) {
    const std::int64_t samples = inside.size(-1);
    const auto sample = at::arange(samples, inside.options().dtype(at::kLong));
    const auto flipped = inside.flip(-1);
    const auto first = first_of_run(inside, sample);
    const auto first_of_flipped = first_of_run(flipped, sample);
    return {first, first_of_flipped.flip(-1).neg().add(samples), gap_before(inside, sample, first, no_gap),
            gap_before(flipped, sample, first_of_flipped, no_gap).flip(-1)};
}

} // namespace spng
