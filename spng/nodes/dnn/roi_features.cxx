// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/roi_features.h"

#include "spng/core/tensor_checks.h"

#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gt.h>

namespace spng {

at::Tensor stack_features(const std::vector<at::Tensor>& images, double scale, double offset,
                          const at::Tensor& divisor) {
    require_argument(!images.empty(), "stack_features", "images", 0, "at least one image");
    const at::Tensor& first = images.front();
    for (const at::Tensor& image : images) {
        require_tensor((is_real(image) || is_mask(image)) && image.dim() == 3 &&
                           image.sizes() == first.sizes(),
                       "stack_features", "images", image,
                       "float or bool (view, channel, tick) of the sizes of " + describe_tensor(first));
    }
    require_tensor(!divisor.defined() || (is_real(divisor) && divisor.sizes() == first.sizes().slice(0, 2)),
                   "stack_features", "divisor", divisor, "float (view, channel) of the images, or undefined");
    at::Tensor stacked =
        at::empty({first.size(0), static_cast<std::int64_t>(images.size()), first.size(1), first.size(2)},
                  first.options().dtype(at::kFloat));
    for (std::size_t i = 0; i < images.size(); ++i) {
        at::Tensor feature = stacked.select(1, static_cast<std::int64_t>(i));
        if (is_real(images[i]) && divisor.defined()) {
            at::div_out(feature, images[i], divisor.unsqueeze(-1)); // instead of a copy
        } else {
            feature.copy_(images[i]);
        }
        if (is_real(images[i])) {
            feature.mul_(scale);
            if (offset != 0) {
                feature.add_(offset);
            }
        }
    }
    return stacked;
}

at::Tensor probable_regions(const at::Tensor& probability, double threshold, const at::Tensor& good) {
    require_tensor(is_real(probability) && probability.dim() == 3, "probable_regions", "probability",
                   probability, "float (view, channel, tick)");
    at::Tensor regions = at::empty(probability.sizes(), probability.options().dtype(at::kBool));
    at::gt_out(regions, probability, threshold);
    return good.defined() ? regions.logical_and_(good.unsqueeze(-1)) : regions;
}

} // namespace spng
