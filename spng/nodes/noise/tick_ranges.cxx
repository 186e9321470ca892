// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/tick_ranges.h"

#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/cummin.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace spng {
namespace {

constexpr std::int64_t sample_bytes = 80; // temporaries of bridged()

/// @param samples  (row, tick)
at::Tensor bridged(const at::Tensor& samples, const at::Tensor& ranges) {
    const std::int64_t ticks = samples.size(1);
    const auto tick = at::arange(ticks, samples.options().dtype(at::kLong));
    const auto flags = ticks_in(ranges, ticks);
    const auto before = std::get<0>(at::cummax(at::where(flags, -1, tick), 1));
    const auto behind = std::get<0>(at::cummin(at::where(flags, ticks, tick).flip(1), 1)).flip(1);
    const auto from = at::gather(samples, 1, before.clamp_min(0));
    const auto to = at::gather(samples, 1, behind.clamp_max(ticks - 1));
    const auto share = (tick - before).to(samples.scalar_type()) / (behind - before).clamp_min(1);
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto level = std::get<0>(at::nanmedian(at::where(flags, none, samples), 1, /*keepdim=*/true));
    const auto is_open = (before < 0) | (behind >= ticks);
    const auto is_whole = (before < 0) & (behind >= ticks);
    return at::where(flags & is_whole.logical_not(), at::where(is_open, level, from + share * (to - from)),
                     samples);
}

} // namespace

at::Tensor ticks_in(const at::Tensor& ranges, std::int64_t ticks) {
    const auto tick = at::arange(ticks, ranges.options().dtype(at::kLong));
    at::Tensor flags;
    for (std::int64_t range = 0; range < ranges.size(1); ++range) {
        const auto own = ranges.select(1, range);
        const auto inside =
            (tick >= own.select(1, 0).unsqueeze(1)).logical_and_(tick < own.select(1, 1).unsqueeze(1));
        flags = flags.defined() ? flags.logical_or_(inside) : inside;
    }
    return flags;
}

at::Tensor ranges_of(const at::Tensor& flags, std::int64_t count) {
    require_tensor(flags.defined() && flags.dim() == 2 && flags.scalar_type() == at::kBool, "ranges_of",
                   "flags", flags, "bool (row, tick)");
    const std::int64_t rows = flags.size(0), ticks = flags.size(1);
    require_argument(count >= 1 && count <= ticks, "ranges_of", "count", count, "1 to the count of ticks");
    const auto none = at::zeros({rows, 1}, flags.options());
    const auto before = at::cat({none, flags.narrow(1, 0, ticks - 1)}, 1);
    const auto after = at::cat({flags.narrow(1, 1, ticks - 1), none}, 1);
    const auto tick = at::arange(ticks, flags.options().dtype(at::kInt));
    const auto first = [&](const at::Tensor& ends, const at::Tensor& position) {
        const auto found = at::where(ends, position, static_cast<int>(ticks));
        return std::get<0>(at::topk(found, count, 1, /*largest=*/false, /*sorted=*/true));
    };
    const auto begin = first(flags & before.logical_not(), tick);
    auto end = first(flags & after.logical_not(), tick + 1);
    // The last range covers all further ones.
    const auto last = std::get<0>(at::where(flags, tick + 1, 0).max(1));
    const auto is_used = begin.select(1, count - 1) < ticks;
    end = at::cat({end.narrow(1, 0, count - 1),
                   at::where(is_used, last, static_cast<int>(ticks)).to(at::kInt).unsqueeze(1)},
                  1);
    return at::stack({begin, end}, 2);
}

at::Tensor bridge_ranges(const at::Tensor& waveforms, const at::Tensor& ranges, bool picks_rows) {
    const char* name = "bridge_ranges";
    require_tensor(is_real(waveforms) && waveforms.dim() >= 2, name, "waveforms", waveforms,
                   "float32 or float64 (..., channel, tick)");
    auto shape = waveforms.sizes().vec();
    shape.back() = ranges.defined() && ranges.dim() >= 2 ? ranges.size(-2) : 0;
    shape.push_back(2);
    require_tensor(ranges.defined() && ranges.sizes() == at::IntArrayRef(shape), name, "ranges", ranges,
                   "(..., channel, range, 2), for the rows of " + describe_tensor(waveforms));
    auto result = waveforms.clone();
    if (waveforms.numel() == 0 || ranges.numel() == 0) {
        return result;
    }
    const auto rows = as_rows(result);
    const auto own = ranges.reshape({rows.size(0), -1, 2});
    if (picks_rows) {
        const auto chosen = (own.select(2, 0) < own.select(2, 1)).any(1).nonzero().squeeze(1);
        if (chosen.numel() > 0) {
            rows.index_copy_(0, chosen, bridged(rows.index_select(0, chosen), own.index_select(0, chosen)));
        }
        return result;
    }
    for_row_chunks(rows.size(0), waveforms.size(-1) * sample_bytes,
                   [&](std::int64_t first, std::int64_t count) {
                       auto part = rows.narrow(0, first, count);
                       part.copy_(bridged(part, own.narrow(0, first, count)));
                   });
    return result;
}

at::Tensor found_bad_ticks(const ChannelTable& channels) {
    std::vector<at::Tensor> parts;
    for (const BadTickRanges& each : channels.bad_ticks) {
        parts.push_back(each.ticks);
    }
    return parts.empty() ? at::Tensor{} : parts.size() == 1 ? parts.front() : at::cat(parts, -2);
}

at::Tensor bridge_bad_ticks(const at::Tensor& waveforms, const at::Tensor& found) {
    return found.defined() ? bridge_ranges(waveforms, found, /*picks_rows=*/waveforms.is_cpu()) : waveforms;
}

} // namespace spng
