// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_selection.h"

#include "spng/core/tensor_checks.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spng {
namespace {

template <class T>
std::vector<ChannelRange> ranges_at_rails(const T* samples, std::int64_t count, int channel, Rails rails) {
    const auto low = static_cast<T>(rails.low);
    const auto high = static_cast<T>(rails.high);
    std::vector<ChannelRange> ranges;
    for (std::int64_t i = 0; i < count; ++i) {
        if (samples[i] <= low || samples[i] >= high) {
            if (!ranges.empty() && ranges.back().end == i) {
                ++ranges.back().end;
            } else {
                ranges.push_back({channel, i, i + 1});
            }
        }
    }
    return ranges;
}

/// Tell whether float samples are integers beyond int16, as the readers make them of wider types.
bool are_wide_integers(const at::Tensor& samples) {
    const bool is_examined = samples.is_cpu() && samples.scalar_type() == at::kFloat;
    const auto* sample = is_examined ? samples.const_data_ptr<float>() : nullptr;
    using Limits = std::numeric_limits<std::int16_t>;
    bool is_wide = false;
    const bool is_whole = std::all_of(sample, sample + (is_examined ? samples.numel() : 0), [&](float value) {
        is_wide |= value < Limits::min() || value > Limits::max();
        return value == std::trunc(value); // in most frames the first sample is not
    });
    return is_whole && is_wide;
}

} // namespace

std::optional<Rails> rails_of(const at::Tensor& samples, int bits) {
    const bool is_checked =
        bits > 0 && bits < 16 && (samples.scalar_type() == at::kShort || are_wide_integers(samples));
    return is_checked ? std::optional(Rails{0, (std::int64_t{1} << bits) - 1}) : std::nullopt;
}

double largest_sample(int bits) {
    return std::ldexp(16.0, bits > 0 ? bits : 16);
}

BadTicks bad_ticks_of(const at::Tensor& ids, const std::vector<ChannelRange>& bad, std::int64_t ticks) {
    require_tensor(ids.is_cpu() && ids.scalar_type() == at::kInt && ids.is_contiguous(), "bad_ticks_of",
                   "ids", ids, "contiguous int32 on the host");
    // Merged, because touching ranges may cover the readout together.
    const auto by_channel = merged_by_channel(bad);
    BadTicks result{at::empty({ids.numel() + 1}, at::kLong), {}, at::empty({ids.numel()}, at::kBool)};
    auto* offset = result.offsets.mutable_data_ptr<std::int64_t>();
    auto* is_masked = result.is_masked.mutable_data_ptr<bool>();
    const auto* id = ids.const_data_ptr<std::int32_t>();
    std::vector<std::int64_t> ends; // begin and end of each range
    offset[0] = 0;
    for (std::int64_t row = 0; row < ids.numel(); ++row) {
        const auto found = by_channel.find(id[row]);
        if (found != by_channel.end()) {
            for (const auto& range : found->second) {
                const std::int64_t begin = std::clamp<std::int64_t>(range.begin, 0, ticks);
                const std::int64_t end = std::clamp<std::int64_t>(range.end, begin, ticks);
                if (begin < end) {
                    ends.insert(ends.end(), {begin, end});
                }
            }
        }
        offset[row + 1] = static_cast<std::int64_t>(ends.size() / 2);
        is_masked[row] = offset[row + 1] > offset[row];
    }
    result.ranges = at::empty({offset[ids.numel()], 2}, at::kLong);
    std::copy(ends.begin(), ends.end(), result.ranges.mutable_data_ptr<std::int64_t>());
    return result;
}

/// @param is_saturated  of a row of int16; those of float32 have no flag
static std::vector<ChannelRange> saturated_ranges(const at::Tensor& samples, std::int64_t row, int channel,
                                                  bool is_saturated, const std::optional<Rails>& rails) {
    const std::int64_t ticks = samples.size(1), first = row * ticks;
    if (rails && samples.scalar_type() == at::kFloat) {
        return ranges_at_rails(samples.const_data_ptr<float>() + first, ticks, channel, *rails);
    }
    if (rails && is_saturated) {
        return ranges_at_rails(samples.const_data_ptr<std::int16_t>() + first, ticks, channel, *rails);
    }
    return {};
}

ChannelFindings findings_of(const at::Tensor& flags, const at::Tensor& samples, const at::Tensor& rows,
                            const at::Tensor& ids, const at::Tensor& is_masked, std::optional<Rails> rails) {
    const char* name = "findings_of";
    const auto is_usable = [&](const at::Tensor& tensor, at::ScalarType type) {
        return tensor.is_cpu() && tensor.dim() == 2 && tensor.sizes() == rows.sizes() &&
               tensor.is_contiguous() && tensor.scalar_type() == type;
    };
    require_tensor(is_usable(flags, at::kByte), name, "flags", flags, "contiguous uint8 (view, channel)");
    require_tensor(is_usable(rows, at::kLong), name, "rows", rows, "contiguous int64 (view, channel)");
    require_tensor(is_usable(ids, at::kInt), name, "ids", ids, "contiguous int32 (view, channel)");
    require_tensor(is_usable(is_masked, at::kBool), name, "is_masked", is_masked,
                   "contiguous bool (view, channel)");
    const std::int64_t ticks = samples.size(1);
    const auto* flag = flags.const_data_ptr<std::uint8_t>();
    const auto* row = rows.const_data_ptr<std::int64_t>();
    const auto* id = ids.const_data_ptr<std::int32_t>();
    const auto* masked = is_masked.const_data_ptr<bool>();
    ChannelFindings findings;
    findings.counts.resize(static_cast<std::size_t>(rows.size(0)));
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
        auto& counts = findings.counts[static_cast<std::size_t>(i / rows.size(1))];
        const ChannelRange whole{id[i], 0, ticks};
        ++counts.channels;
        switch (static_cast<Verdict>(flag[i] & verdict_bits)) {
        case Verdict::missing:
            ++counts.absent;
            findings.missing.push_back(whole);
            continue;
        case Verdict::not_finite:
            ++counts.not_finite;
            findings.not_finite.push_back(whole);
            continue;
        case Verdict::out_of_range:
            ++counts.out_of_range;
            findings.out_of_range.push_back(whole);
            continue;
        case Verdict::dead:
            ++counts.masked;
            continue;
        case Verdict::good:
            break;
        }
        const bool is_constant = (flag[i] & constant_row) != 0;
        counts.constant += is_constant ? 1 : 0;
        counts.partly_masked += masked[i] ? 1 : 0;
        const auto ranges = saturated_ranges(samples, row[i], id[i], (flag[i] & saturated_row) != 0, rails);
        findings.saturated.insert(findings.saturated.end(), ranges.begin(), ranges.end());
        if (!ranges.empty() && !is_constant) { // a dead channel may be constant at a rail
            ++counts.saturated;
            for (const auto& range : ranges) {
                counts.saturated_samples += static_cast<std::uint64_t>(range.end - range.begin);
            }
        }
    }
    return findings;
}

SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 double largest) {
    require_tensor(rows.dim() == 2 && rows.scalar_type() == at::kLong && rows.is_contiguous(),
                   "select_channels", "rows", rows, "int64 (view, channel)");
    require_tensor(ids.sizes() == rows.sizes(), "select_channels", "ids", ids, "int32, same shape as rows");
    const BadTicks bad_ticks = bad_ticks_of(ids, bad, samples.size(1));
    const SelectedRows selected =
        select_rows_on_host(samples, {rows.view(-1), bad_ticks.offsets, bad_ticks.ranges},
                            samples.scalar_type() == at::kShort ? rails : std::nullopt, largest);
    return {selected.waveforms.view({rows.size(0), rows.size(1), samples.size(1)}),
            selected.good.view(rows.sizes()),
            findings_of(selected.flags.view(rows.sizes()), samples, rows, ids,
                        bad_ticks.is_masked.view(rows.sizes()), rails)};
}

} // namespace spng
