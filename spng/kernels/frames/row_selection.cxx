// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/row_selection.h"
#include "spng/kernels/launch.h"
#include "spng/kernels/rows.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace spng::kernels {

namespace {

template <class Sample>
void select_rows(const char* kernel, const at::Tensor& frame, const at::Tensor& rows,
                 const at::Tensor& offsets, const at::Tensor& ranges, std::optional<std::int64_t> low,
                 std::optional<std::int64_t> high, double largest, at::Tensor& waveforms, at::Tensor& good,
                 at::Tensor& flags) {
    // Beyond int16: no sample is at such a rail, and none is larger than such a limit.
    constexpr int below = std::numeric_limits<std::int16_t>::min() - 1;
    constexpr int above = std::numeric_limits<std::int16_t>::max() + 1;
    using Limit = std::conditional_t<std::is_integral_v<Sample>, int, Sample>;
    auto limit = static_cast<Limit>(std::is_integral_v<Sample> ? 0 : largest);
    if constexpr (std::is_integral_v<Sample>) {
        // As on the CPU, where -32768 passes if 32767 does.
        limit = largest >= above - 1 ? above : std::max(-1, static_cast<int>(std::floor(largest)));
    }
    const std::int64_t ticks = frame.size(1);
    const auto is_in_words = [bytes = ticks * sizeof(Sample)](const void* data) {
        return bytes % 8 == 0 && reinterpret_cast<std::uintptr_t>(data) % 8 == 0;
    };
    const bool in_words = is_in_words(frame.const_data_ptr()) && is_in_words(waveforms.const_data_ptr());
    // The address of an empty tensor may be that of other memory.
    const auto* ends = ranges.numel() > 0 ? ranges.const_data_ptr<std::int64_t>() : nullptr;
    launch(kernel, frame.device(), blocks_for(rows.numel(), 1), reduction_bytes,
           frame.const_data_ptr<Sample>(), ticks, rows.const_data_ptr<std::int64_t>(), rows.numel(),
           offsets.const_data_ptr<std::int64_t>(), ends, limit,
           low ? static_cast<int>(static_cast<std::int16_t>(*low)) : below,
           high ? static_cast<int>(static_cast<std::int16_t>(*high)) : above, static_cast<int>(in_words),
           waveforms.mutable_data_ptr<Sample>(), good.mutable_data_ptr<bool>(),
           flags.mutable_data_ptr<std::uint8_t>());
}

} // namespace

std::tuple<at::Tensor, at::Tensor, at::Tensor> select_rows(const at::Tensor& frame, const at::Tensor& rows,
                                                           const at::Tensor& offsets,
                                                           const at::Tensor& ranges,
                                                           std::optional<std::int64_t> low,
                                                           std::optional<std::int64_t> high, double largest) {
    at::Tensor waveforms = at::empty({rows.numel(), frame.size(1)}, frame.options());
    at::Tensor good = at::empty({rows.numel()}, frame.options().dtype(at::kBool));
    at::Tensor flags = at::empty({rows.numel()}, frame.options().dtype(at::kByte));
    const auto run = [&]<class Sample>(const char* kernel, Sample) {
        select_rows<Sample>(kernel, frame, rows, offsets, ranges, low, high, largest, waveforms, good, flags);
    };
    if (rows.numel() == 0) {
        return {waveforms, good, flags};
    }
    switch (frame.scalar_type()) {
    case at::kShort:
        run("select_rows_int16", std::int16_t{});
        break;
    case at::kFloat:
        run("select_rows_float32", float{});
        break;
    default:
        run("select_rows_float64", double{});
        break;
    }
    return {waveforms, good, flags};
}

} // namespace spng::kernels
