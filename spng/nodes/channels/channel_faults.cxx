// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_faults.h"

#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/channels/channel_ranges.h"
#include "spng/nodes/roi/robust_rms.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/nanmedian.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/sort.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace spng {
namespace {

constexpr std::int64_t min_ticks = 64;
constexpr std::int64_t cpu_chunk_bytes = std::int64_t{16} << 20; // so that temporaries stay in the caches

/// Lower and upper quartile of the RMS of the blocks, (view, channel) each.
struct BlockNoise {
    at::Tensor lower, upper;
};

BlockNoise block_noise(const at::Tensor& waveforms, std::int64_t block) {
    const auto type = waveforms.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const std::int64_t ticks = waveforms.size(2), blocks = ticks / block;
    const auto rows = as_rows(waveforms);
    auto noise = at::empty({rows.size(0), blocks}, rows.options().dtype(type));
    for_row_chunks(
        rows.size(0), ticks * 2 * noise.element_size(),
        [&](std::int64_t first, std::int64_t count) {
            const auto samples = rows.narrow(0, first, count).narrow(1, 0, blocks * block).to(type);
            noise.narrow(0, first, count).copy_(robust_noise(samples.reshape({count, blocks, block})).rms);
        },
        rows.is_cpu() ? cpu_chunk_bytes : composition_bytes);
    const auto sorted = std::get<0>(at::sort(noise, -1)).view({waveforms.size(0), waveforms.size(1), blocks});
    const std::int64_t rank = (blocks - 1) / 4;
    return {sorted.select(2, rank), sorted.select(2, blocks - 1 - rank)};
}

} // namespace

at::Tensor channel_faults(const at::Tensor& waveforms, const at::Tensor& good, const ExpectedNoise& expected,
                          const ChannelFaultRule& rule) {
    const char* name = "channel_faults";
    require_tensor((is_real(waveforms) || (waveforms.defined() && waveforms.scalar_type() == at::kShort)) &&
                       waveforms.dim() == 3,
                   name, "waveforms", waveforms, "int16, float32 or float64 (view, channel, tick)");
    const auto rows = waveforms.sizes().slice(0, 2);
    require_tensor(is_mask(good) && good.sizes() == rows, name, "mask of good channels", good,
                   "bool, one for each row of " + describe_tensor(waveforms));
    for (const auto* each : {&expected.rms, &expected.low, &expected.high}) {
        require_tensor(!each->defined() || (is_real(*each) && each->sizes() == rows), name, "expected noise",
                       *each, "real, one for each row of " + describe_tensor(waveforms));
    }
    if (waveforms.size(2) < min_ticks || waveforms.numel() == 0) {
        return at::zeros(rows, good.options().dtype(at::kByte));
    }
    const BlockNoise noise = block_noise(waveforms, std::min(rule.block, waveforms.size(2)));
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto rms =
        expected.rms.defined() ? expected.rms.to(noise.lower.scalar_type()) : at::ones_like(noise.lower);
    auto level = std::get<0>(at::nanmedian(at::where(good & (noise.lower > 0), noise.lower / rms, none), -1,
                                           /*keepdim=*/true))
                     .nan_to_num(0);
    auto high_level = level, low_level = level;
    if (expected.rms.defined()) {
        high_level = level.clamp(1, rule.max_level);
        low_level = level.clamp(1 / rule.max_level, 1);
    }
    const bool is_kept = rule.shared_noise == SharedNoise::kept;
    const bool is_removed = rule.shared_noise == SharedNoise::removed;
    auto is_dead = noise.upper <= low_level * rms * (is_removed ? rule.min_rms / 2 : rule.min_rms);
    if (expected.low.defined() && !is_removed) {
        is_dead = at::where(expected.low.isnan(), is_dead, noise.upper < expected.low);
    }
    auto is_noisy = noise.lower > high_level * rms * rule.max_rms;
    if (expected.high.defined()) {
        is_noisy = at::where(expected.high.isnan(), is_noisy, noise.lower > expected.high);
    }
    if (is_kept) {
        is_noisy = at::zeros_like(is_noisy);
    }
    const auto fault = [](ChannelFault which) { return static_cast<int>(which); };
    return at::where(good, is_dead * fault(ChannelFault::dead) + is_noisy * fault(ChannelFault::noisy), 0)
        .clamp_max(fault(ChannelFault::noisy))
        .to(at::kByte);
}

void add_faults(ChannelMasks& masks, const at::Tensor& ids, const at::Tensor& faults,
                const std::vector<int>& channels, std::int64_t ticks) {
    const auto* id = ids.const_data_ptr<std::int32_t>();
    const auto* fault = faults.const_data_ptr<std::uint8_t>();
    std::map<std::string, std::vector<ChannelRange>> found;
    for (std::int64_t row = 0; row < ids.numel(); ++row) {
        const auto own = static_cast<ChannelFault>(fault[row]);
        if (own == ChannelFault::none || !std::binary_search(channels.begin(), channels.end(), id[row])) {
            continue;
        }
        found["bad"].push_back({id[row], 0, ticks});
        if (own == ChannelFault::noisy) {
            found["noisy"].push_back({id[row], 0, ticks});
        }
    }
    for (auto& [name, ranges] : found) {
        auto& mask = masks[name];
        ranges.insert(ranges.end(), mask.begin(), mask.end());
        mask.clear();
        for (const auto& [channel, merged] : merged_by_channel(std::move(ranges))) {
            mask.insert(mask.end(), merged.begin(), merged.end());
        }
    }
}

} // namespace spng
