// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/negative_pulses.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/nodes/noise/board_rows.h"
#include "spng/nodes/noise/robust_spread.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/kthvalue.h>
#include <ATen/ops/max_pool1d.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace spng {
namespace {

constexpr std::int64_t max_pulses = 4; // of a board in a readout
constexpr std::int64_t sampling = 4;   // as in coherent_noise.cxx
constexpr std::int64_t min_good =
    7; // channels of a board: with fewer, `share` of them may be less than 6 of 7

const Registration<NegativePulses> registration{
    {.type = "SPNGNegativePulses",
     .kind = "noise",
     .text = "finds negative pulses of whole front-end boards, and replaces them by straight lines",
     .memory = step_memory_rule({.use = MemoryUse::input, .bytes = composition_bytes})}};

/// Return the flags in runs of more than `width`, and `padding` ticks on either side of these.
/// @param flags  (row, tick) bool
at::Tensor long_runs(const at::Tensor& flags, std::int64_t width, std::int64_t padding) {
    const auto others = flags.logical_not().to(at::kFloat).unsqueeze(1);
    const auto starts = (at::max_pool1d(others, {width + 1}, {1}) == 0).to(at::kFloat); // a run begins here
    const auto reach = width + padding;
    const auto spread =
        at::max_pool1d(at::constant_pad_nd(starts, {reach, reach}), {reach + padding + 1}, {1});
    return (spread > 0).squeeze(1);
}

/// @param samples  (board, member, tick)
/// @param alive    (board, member, 1) bool
/// @return (board, max_pulses, 2) int32
at::Tensor pulses_of(const at::Tensor& samples, const at::Tensor& alive, const NegativePulsesConfig& rule) {
    auto deviation = samples - std::get<0>(samples.median(-1, /*keepdim=*/true));
    if (rule.half_smoothing > 0) {
        deviation = at::avg_pool1d(deviation, {2 * rule.half_smoothing + 1}, {1}, {rule.half_smoothing},
                                   /*ceil_mode=*/false, /*count_include_pad=*/false);
    }
    const std::int64_t members = samples.size(1);
    const auto rank_of = [&rule](const at::Tensor& count) {
        return count.sub(1).to(at::kDouble).mul(rule.share).floor().to(at::kLong);
    };
    const auto rank = static_cast<std::int64_t>(rule.share * static_cast<double>(members - 1));
    const auto count = alive.sum(1, /*keepdim=*/true); // (board, 1, 1)
    // Channels that are not good are below or above all others, so many below that the rank is that of the good ones.
    const auto below_upper = rank - rank_of(count), other = alive.logical_not();
    const auto position = other.cumsum(1);
    const auto with_rank = [&](const at::Tensor& below) {
        const double infinite = std::numeric_limits<double>::infinity();
        return at::where(alive, deviation, at::where(position <= below, -infinite, infinite));
    };
    const auto upper = std::get<0>(at::kthvalue(with_rank(below_upper), rank + 1, 1)); // (board, tick)
    const auto lower = std::get<0>(at::kthvalue(with_rank(members - count - below_upper), members - rank, 1));
    const auto over_time = [](const at::Tensor& values) {
        return std::get<0>(values.median(-1, /*keepdim=*/true));
    };
    const auto level = upper - over_time(upper);
    const auto sigma = robust_spread(level.slice(-1, 0, std::nullopt, sampling));
    const auto limit =
        at::maximum(sigma * rule.threshold, over_time(upper - lower)).clamp_min(rule.min_depth);
    const auto below = (level < -limit) & (count.squeeze(-1) >= min_good);
    return ranges_of(long_runs(below, rule.width, rule.padding), max_pulses);
}

} // namespace

at::Tensor negative_pulses(const at::Tensor& waveforms, const at::Tensor& good, const at::Tensor& boards,
                           const NegativePulsesConfig& rule) {
    const char* name = "negative_pulses";
    require_waveforms(name, waveforms, good);
    require_tensor(boards.defined() && boards.dim() == 2 && boards.scalar_type() == at::kLong, name, "boards",
                   boards, "int64 (board, member)");
    auto shape = good.sizes().vec();
    shape.insert(shape.end(), {max_pulses, 2});
    auto result = at::zeros(shape, waveforms.options().dtype(at::kInt));
    const std::int64_t ticks = waveforms.size(-1);
    if (waveforms.numel() == 0 || ticks <= std::max(rule.width, max_pulses)) {
        return result;
    }
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const auto rows = as_rows(waveforms), to = result.view({-1, max_pulses, 2});
    const auto flags = good.flatten();
    const std::int64_t bytes_of_board =
        boards.size(1) * ticks * (6 * static_cast<std::int64_t>(c10::elementSize(type)) + 8);
    for_row_chunks(
        boards.size(0), bytes_of_board,
        [&](std::int64_t first, std::int64_t count) {
            const auto own = boards.narrow(0, first, count).flatten();
            const auto alive = flags.index_select(0, own).view({count, -1, 1});
            const auto samples = rows.index_select(0, own).view({count, -1, ticks}).to(type);
            const auto found =
                pulses_of(samples, alive, rule).unsqueeze(1).expand({-1, boards.size(1), -1, -1});
            to.index_copy_(0, own, at::where(alive.unsqueeze(-1), found, 0).to(at::kInt).flatten(0, 1));
        },
        waveforms.is_cpu() ? cached_composition_bytes : composition_bytes);
    return result;
}

void NegativePulses::prepare_node(Environment& environment) {
    const ViewGroup& group = group_of(config(), environment, name().text());
    m_boards = board_rows(group, {config().board_channels, config().board_shift}, name().text())
                   .to(context().device());
}

NamedTensor NegativePulses::reporting_step(NamedTensor tensor, const EventInfo& /*event*/, Reports& reports) {
    NVTX_SCOPED_RANGE("NegativePulses::find");
    tensor.data = tensor.data.to(context().device());
    auto channels = std::make_shared<ChannelTable>(*tensor.channels);
    const auto ticks = negative_pulses(tensor.data, channels->good, m_boards, config());
    reports = m_watch.observe(name().text(), *channels,
                              mostly_bad_counts(channels->good, ticks, tensor.data.size(-1)),
                              config().max_bad_share);
    channels->bad_ticks.push_back({"femb_noise", tensor.axes.back().period, ticks});
    tensor.data = bridge_bad_ticks(tensor.data.to(context().real()), found_bad_ticks(*channels));
    tensor.channels = std::move(channels);
    return tensor;
}

} // namespace spng
