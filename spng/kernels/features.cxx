// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"
#include "spng/nodes/dnn/roi_features.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <vector>

namespace spng::kernels {

namespace {

template <class Real>
void stack_features(const char* kernel, at::TensorList features, const at::Tensor& divisor, double scale,
                    double offset, at::Tensor& stacked) {
    List<const Real*, max_features> waveforms{};
    List<std::int64_t, max_features> strides{};
    List<const std::int64_t*, max_features> masks{};
    List<const Real*, max_features> divisors{};
    std::int64_t charge_features = 0;
    std::vector<at::Tensor> rows; // kept until the launch
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (is_real(features[i])) {
            rows.push_back(rows_in_place(features[i]));
            waveforms.at[i] = rows.back().const_data_ptr<Real>();
            strides.at[i] = rows.back().stride(0);
            if (divisor.defined()) {
                divisors.at[i] = divisor.const_data_ptr<Real>() + charge_features++ * divisor.stride(0);
            }
        } else {
            rows.push_back(features[i].contiguous());
            masks.at[i] = rows.back().const_data_ptr<std::int64_t>();
        }
    }
    const std::int64_t ticks = stacked.size(3);
    launch(kernel, stacked.device(), blocks_for(stacked.numel() / ticks, 1), 0, waveforms, strides, masks,
           static_cast<int>(features.size()), stacked.size(0), stacked.size(2), ticks, divisors,
           static_cast<float>(scale), static_cast<float>(offset), stacked.mutable_data_ptr<float>());
}

} // namespace

at::Tensor stack_features(at::TensorList features, std::int64_t ticks, double scale, double offset,
                          const std::optional<at::Tensor>& divisor) {
    const auto real = std::find_if(features.begin(), features.end(), is_real);
    const auto type = real == features.end() ? at::kFloat : real->scalar_type();
    const bool is_mixed = (divisor && divisor->scalar_type() != type) ||
                          std::any_of(features.begin(), features.end(), [&](const at::Tensor& feature) {
                              return is_real(feature) && feature.scalar_type() != type;
                          });
    if (is_mixed || features.size() > max_features) {
        return stack_features_by_parts(features, ticks, scale, offset, divisor);
    }
    const at::Tensor& first = features[0];
    at::Tensor stacked =
        at::empty({first.size(0), static_cast<std::int64_t>(features.size()), first.size(1), ticks},
                  first.options().dtype(at::kFloat));
    if (stacked.numel() > 0) {
        const at::Tensor units = divisor ? divisor->contiguous() : at::Tensor();
        type == at::kFloat
            ? stack_features<float>("stack_features_float32", features, units, scale, offset, stacked)
            : stack_features<double>("stack_features_float64", features, units, scale, offset, stacked);
    }
    return stacked;
}

} // namespace spng::kernels
