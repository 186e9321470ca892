// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/chirping.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/context.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <memory>
#include <utility>
#include <vector>

namespace spng {
namespace {

constexpr std::int64_t min_run = 5;  // quiet blocks
constexpr double whole_share = 0.99; // of quiet blocks, from which the rest of the readout is bad too
constexpr double range_share = 0.5;  // of quiet blocks in the range from the first to the last run

const Registration<Chirping> registration{
    {.type = "SPNGChirping",
     .kind = "noise",
     .text = "finds the ticks in which preamplifiers chirp, and replaces them by straight lines",
     .memory = step_memory_rule({.use = MemoryUse::input, .bytes = composition_bytes})}};

/// @param quiet  (row, block) bool
/// @return (row, 2) int64: first block and the one behind the last; equal for none
at::Tensor blocks_of(const at::Tensor& quiet, double max_alternation) {
    const std::int64_t blocks = quiet.size(1);
    const auto shifted = [&](const at::Tensor& flags, std::int64_t by) {
        return flags.narrow(1, by, blocks - 2);
    };
    const auto count = quiet.sum(1);
    const auto alternating =
        (shifted(quiet, 1) & (shifted(quiet, 0) & shifted(quiet, 2)).logical_not()).sum(1);
    at::Tensor runs = quiet.narrow(1, 0, blocks - min_run + 1); // a run begins here
    for (std::int64_t i = 1; i < min_run; ++i) {
        runs = runs & quiet.narrow(1, i, blocks - min_run + 1);
    }
    const auto start = at::arange(runs.size(1), quiet.options().dtype(at::kLong));
    const auto is_whole = count >= static_cast<double>(blocks) * whole_share;
    auto first = at::where(is_whole, 0, std::get<0>(at::where(runs, start, blocks).min(1)));
    auto end = at::where(is_whole, blocks, std::get<0>(at::where(runs, start + min_run, 0).max(1)));
    const auto block = at::arange(blocks, start.options());
    const auto length = block - std::get<0>(at::cummax(at::where(quiet, -1, block), 1)); // of the run so far
    const auto [longest, last] = length.max(1);
    const auto is_sparse = count < (end - first) * range_share;
    first = at::where(is_sparse, last + 1 - longest, first);
    end = at::where(is_sparse, last + 1, end);
    const auto is_one_run = (count * max_alternation < 2) & (end - first == count);
    const auto chirps = runs.any(1) & ((alternating < count * max_alternation) | is_one_run);
    return at::where(chirps.unsqueeze(1), at::stack({first, end}, 1), 0);
}

} // namespace

at::Tensor chirping_ranges(const at::Tensor& waveforms, const at::Tensor& good, const ChirpingConfig& rule) {
    require_waveforms("chirping_ranges", waveforms, good);
    auto shape = good.sizes().vec();
    shape.insert(shape.end(), {1, 2});
    const std::int64_t ticks = waveforms.size(-1), blocks = ticks / rule.block;
    const auto options = waveforms.options();
    if (waveforms.numel() == 0 || blocks < min_run) {
        return at::zeros(shape, options.dtype(at::kInt));
    }
    const auto rows = as_rows(waveforms);
    const auto real = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const auto flags = good.flatten();
    std::vector<at::Tensor> parts;
    const auto work = [&](std::int64_t first, std::int64_t count) {
        const auto samples = rows.narrow(0, first, count)
                                 .narrow(1, 0, blocks * rule.block)
                                 .to(real)
                                 .reshape({count, blocks, rule.block});
        const auto variance = (samples - samples.mean(2, /*keepdim=*/true)).square_().mean(2);
        const auto quiet =
            (variance < rule.max_rms * rule.max_rms) & flags.narrow(0, first, count).unsqueeze(1);
        parts.push_back(blocks_of(quiet, rule.max_alternation));
    };
    for_row_chunks(rows.size(0), ticks * 3 * static_cast<std::int64_t>(c10::elementSize(real)), work,
                   waveforms.is_cpu() ? cached_composition_bytes : composition_bytes);
    const auto found = parts.size() == 1 ? parts.front() : at::cat(parts);
    const auto first = found.select(1, 0), end = found.select(1, 1);
    const auto begin_tick = ((first - 1) * rule.block).clamp_min(0);
    // The rest behind the last block belongs to it.
    const auto end_tick = at::where(end >= blocks - 1, ticks, (end + 1) * rule.block);
    const auto is_empty = first >= end;
    return at::where(is_empty.unsqueeze(1), 0, at::stack({begin_tick, end_tick}, 1)).to(at::kInt).view(shape);
}

NamedTensor Chirping::reporting_step(NamedTensor tensor, const EventInfo& /*event*/, Reports& reports) {
    NVTX_SCOPED_RANGE("Chirping::find");
    tensor.data = tensor.data.to(context().device());
    auto channels = std::make_shared<ChannelTable>(*tensor.channels);
    const auto ticks = chirping_ranges(tensor.data, channels->good, config());
    const std::int64_t length = tensor.data.size(-1);
    reports = m_watch.observe(name().text(), *channels, mostly_bad_counts(channels->good, ticks, length),
                              config().max_bad_share);
    const auto span = (ticks.select(-1, 1) - ticks.select(-1, 0)).squeeze(-1);
    channels->good = channels->good & ((span > 0) & (span >= length)).logical_not();
    channels->bad_ticks.push_back({"chirp", tensor.axes.back().period, ticks});
    tensor.data = bridge_bad_ticks(tensor.data.to(context().real()), found_bad_ticks(*channels));
    tensor.channels = std::move(channels);
    return tensor;
}

} // namespace spng
