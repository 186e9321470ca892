// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/input/input_noise.h"

#include "spng/core/tensor_checks.h"
#include "spng/detector/view_statistics.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/nan_to_num.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/where.h>

#include <limits>

namespace spng {

InputNoise input_noise(const at::Tensor& rms, const at::Tensor& good, const at::Tensor& training, double hot,
                       const at::Tensor& expected) {
    require_tensor(is_real(rms) && rms.dim() == 2, "input_noise", "rms", rms, "float (view, channel)");
    require_tensor(training.defined() && training.scalar_type() == rms.scalar_type() && training.dim() == 2 &&
                       training.size(0) == rms.size(0) && training.size(1) == 1,
                   "input_noise", "training", training, "(view, 1), type of rms");
    require_tensor(!good.defined() || (is_mask(good) && good.sizes() == rms.sizes()), "input_noise", "good",
                   good, "bool (view, channel), or undefined");
    require_tensor(!expected.defined() ||
                       (expected.scalar_type() == rms.scalar_type() && expected.sizes() == training.sizes()),
                   "input_noise", "expected", expected, "(view, 1), type of rms, or undefined");
    const at::Tensor relative = rms / training;
    const double left_out = std::numeric_limits<double>::quiet_NaN();
    const at::Tensor counted = good.defined() ? at::where(good, relative, left_out) : relative;
    at::Tensor ratio = std::get<0>(at::nanmedian(counted, -1, /*keepdim=*/true));
    at::Tensor used = ratio;
    if (expected.defined() && good.defined()) {
        const at::Tensor is_few = good.sum(-1, /*keepdim=*/true).lt(min_measured_channels);
        used = at::where(is_few, expected, ratio);
        ratio = at::where(is_few, left_out, ratio);
    }
    // The ratio of a view without a good channel is NaN.
    const at::Tensor of_view = at::nan_to_num(used, 1).clamp_min_(1);
    return {ratio.squeeze(-1), at::where(relative > of_view * hot, relative, of_view)};
}

} // namespace spng
