// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/roi_features.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/tensor_checks.h"

#include <ATen/ops/div.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <optional>
#include <string>

namespace spng {

at::Tensor stack_features_by_parts(at::TensorList images, std::int64_t ticks, double scale, double offset,
                                   const std::optional<at::Tensor>& divisor) {
    const at::Tensor& first = images[0];
    at::Tensor stacked =
        at::empty({first.size(0), static_cast<std::int64_t>(images.size()), first.size(1), ticks},
                  first.options().dtype(at::kFloat));
    std::int64_t charge_images = 0;
    for (std::size_t i = 0; i < images.size(); ++i) {
        at::Tensor feature = stacked.select(1, static_cast<std::int64_t>(i));
        if (!is_real(images[i])) {
            feature.copy_(unpack_ticks(images[i], ticks));
            continue;
        }
        if (divisor) {
            at::div_out(feature, images[i],
                        divisor->select(0, charge_images).unsqueeze(-1)); // instead of a copy
        } else {
            feature.copy_(images[i]);
        }
        ++charge_images;
        feature.mul_(scale);
        if (offset != 0) {
            feature.add_(offset);
        }
    }
    return stacked;
}

static const Operator stack_features_op{
    "stack_features(Tensor[] images, int ticks, float scale, float offset, Tensor? divisor) -> Tensor",
    stack_features_by_parts, kernels::stack_features};

at::Tensor stack_features(const std::vector<at::Tensor>& images, std::int64_t ticks, double scale,
                          double offset, const at::Tensor& divisor) {
    const char* name = "stack_features";
    require_argument(!images.empty(), name, "images", 0, "at least one image");
    require_argument(ticks >= 0, name, "number of ticks", ticks, "0 or more");
    const at::Tensor& first = images.front();
    for (const at::Tensor& image : images) {
        const bool is_packed = image.defined() && image.scalar_type() == at::kLong;
        require_tensor((is_real(image) || is_packed) && image.dim() == 3 && same_rows(image, first) &&
                           image.size(2) == (is_packed ? words_for(ticks) : ticks),
                       name, "images", image,
                       "float (view, channel, " + std::to_string(ticks) +
                           ") or packed, with the channels of " + describe_tensor(first));
    }
    const auto charge_images = std::count_if(images.begin(), images.end(), is_real);
    require_tensor(
        !divisor.defined() || (is_real(divisor) && divisor.dim() == 3 && divisor.size(0) == charge_images &&
                               divisor.sizes().slice(1) == first.sizes().slice(0, 2)),
        name, "divisor", divisor, "float (charge image, view, channel) of the images, or undefined");
    return stack_features_op(images, ticks, scale, offset,
                             divisor.defined() ? std::optional(divisor) : std::nullopt);
}

at::Tensor probable_regions(const at::Tensor& probability, double threshold, const at::Tensor& good) {
    require_tensor(is_real(probability) && probability.dim() == 3, "probable_regions", "probability",
                   probability, "float (view, channel, tick)");
    return pack_levels({{.waveform = probability}}, {{.nominal = threshold}},
                       good.defined() ? std::optional(good) : std::nullopt)[0];
}

} // namespace spng
