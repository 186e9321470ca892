// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/tiled_forward.h"

#include "spng/core/error.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/dnn/network_tiles.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace spng {
namespace {

at::Tensor padded(const at::Tensor& features, std::int64_t multiple) {
    const std::int64_t channels = rounded_up(features.size(2), multiple) - features.size(2);
    const std::int64_t ticks = rounded_up(features.size(3), multiple) - features.size(3);
    return channels + ticks == 0 ? features : at::constant_pad_nd(features, {0, ticks, 0, channels});
}

/// Run the network and check the shape of its output: (view, feature, channel, tick) -> (view, channel,
/// tick).
at::Tensor checked_forward(const Model& model, const at::Tensor& features, bool transpose) {
    const at::Tensor input = (transpose ? features.transpose(2, 3) : features).contiguous();
    const at::Tensor output = model.forward(input);
    auto expected = input.sizes().vec();
    expected[1] = 1;
    if (!is_real(output) || output.sizes() != at::IntArrayRef(expected)) {
        throw Error(ErrorKind::Model,
                    {.what = "the network's output is not one value per channel and tick",
                     .where = model.file(),
                     .seen = describe_tensor(output) + " from an input " + describe_tensor(input),
                     .expected = describe_tensor(input.narrow(1, 0, 1)),
                     .hint = "use a network with one output feature and the size of its input; check "
                             "`transpose` and `multiple` of the TorchService"});
    }
    return (transpose ? output.transpose(2, 3) : output).squeeze(1);
}

} // namespace

at::Tensor tiled_forward(const Model& model, const at::Tensor& features, const ModelLayout& layout,
                         std::int64_t chunk) {
    const std::int64_t channels = features.size(2);
    const std::int64_t ticks = features.size(3);
    const at::Tensor input = padded(features, layout.multiple);
    at::Tensor output = at::empty({features.size(0), channels, ticks}, features.options());
    for (const NetworkTile& tile : network_tiles(input.size(3), chunk, layout.halo, layout.multiple)) {
        const at::Tensor piece = checked_forward(
            model, input.narrow(3, tile.input_begin, tile.input_end - tile.input_begin), layout.transpose);
        const std::int64_t length = std::min(tile.end, ticks) - tile.begin;
        output.narrow(2, tile.begin, length)
            .copy_(piece.narrow(1, 0, channels).narrow(2, tile.begin - tile.input_begin, length));
    }
    return output;
}

} // namespace spng
