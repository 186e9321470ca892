// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/channel_selection.h"

#include "spng/core/tensor_checks.h"
#include "spng/device/memory/page_locked.h"
#include "spng/nodes/frame/channel_ranges.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace spng {
namespace {

/// Return whether all magnitudes are at most `largest`; false for NaN. The floating-point loop has no branch.
template <class T>
bool all_within(const T* samples, std::int64_t count, double largest) {
    if constexpr (std::is_floating_point_v<T>) {
        const auto limit = static_cast<T>(largest);
        bool beyond = false;
        for (std::int64_t i = 0; i < count; ++i) {
            beyond |= !(std::abs(samples[i]) <= limit);
        }
        return !beyond;
    } else {
        return largest >= std::numeric_limits<T>::max() ||
               std::all_of(samples, samples + count,
                           [&](T sample) { return std::abs(static_cast<double>(sample)) <= largest; });
    }
}

template <class T>
bool all_finite(const T* samples, std::int64_t count) {
    return std::is_integral_v<T> || std::all_of(samples, samples + count, [](T sample) {
               return std::isfinite(static_cast<double>(sample));
           });
}

/// Stop at the first sample that differs from sample 0, which is usually the second one of a live channel.
template <class T>
bool is_constant(const T* samples, std::int64_t count) {
    return count > 1 &&
           std::all_of(samples + 1, samples + count, [&](T sample) { return sample == samples[0]; });
}

template <class T>
std::vector<ChannelRange> ranges_at_rails(const T* samples, std::int64_t count, int channel, Rails rails) {
    const auto low = static_cast<T>(rails.low);
    const auto high = static_cast<T>(rails.high);
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i) {
        any |= (samples[i] <= low) | (samples[i] >= high);
    }
    std::vector<ChannelRange> ranges;
    for (std::int64_t i = 0; any && i < count; ++i) {
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

/// Replace [begin, end) by the straight line between its neighbours, or by the only neighbour.
template <class T>
void bridge(T* samples, std::int64_t count, std::int64_t begin, std::int64_t end) {
    const bool has_left = begin > 0;
    const bool has_right = end < count;
    const double left = samples[has_left ? begin - 1 : end];
    const double right = samples[has_right ? end : begin - 1];
    const auto steps = static_cast<double>(end - begin + 1);
    for (std::int64_t i = begin; i < end; ++i) {
        const double value = left + (right - left) * static_cast<double>(i - begin + 1) / steps;
        samples[i] = static_cast<T>(std::is_integral_v<T> ? std::nearbyint(value) : value);
    }
}

enum class Verdict : std::uint8_t { good, missing, not_finite, out_of_range, dead };

template <class T>
Verdict fill_row(T* out, const T* in, std::int64_t ticks, const std::vector<ChannelRange>& bad,
                 double largest) {
    Verdict verdict = Verdict::good;
    if (in == nullptr) {
        verdict = Verdict::missing;
    } else if (!all_within(in, ticks, largest)) {
        verdict = all_finite(in, ticks) ? Verdict::out_of_range : Verdict::not_finite;
    } else if (std::any_of(bad.begin(), bad.end(),
                           [&](const auto& range) { return range.begin <= 0 && range.end >= ticks; })) {
        verdict = Verdict::dead;
    }
    if (verdict != Verdict::good) {
        std::fill(out, out + ticks, T{0});
        return verdict;
    }
    std::copy(in, in + ticks, out);
    for (const auto& range : bad) {
        const std::int64_t begin = std::clamp<std::int64_t>(range.begin, 0, ticks);
        const std::int64_t end = std::clamp<std::int64_t>(range.end, begin, ticks);
        bridge(out, ticks, begin, end);
    }
    return verdict;
}

/// Findings of one row, input of count().
struct RowFindings {
    Verdict verdict = Verdict::good;
    bool constant = false;
    bool partly_masked = false;
    std::vector<ChannelRange> saturated;
};

void count(instrument::ChannelCounts& counts, const RowFindings& row) {
    ++counts.channels;
    counts.absent += row.verdict == Verdict::missing ? 1 : 0;
    counts.not_finite += row.verdict == Verdict::not_finite ? 1 : 0;
    counts.out_of_range += row.verdict == Verdict::out_of_range ? 1 : 0;
    counts.masked += row.verdict == Verdict::dead ? 1 : 0;
    counts.constant += row.constant ? 1 : 0;
    counts.partly_masked += row.partly_masked ? 1 : 0;
    if (!row.constant && !row.saturated.empty()) { // a dead channel may be constant at a rail
        ++counts.saturated;
        for (const auto& range : row.saturated) {
            counts.saturated_samples += static_cast<std::uint64_t>(range.end - range.begin);
        }
    }
}

} // namespace

double largest_sample(int bits) {
    return std::ldexp(16.0, bits > 0 ? bits : 16);
}

SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 double largest, bool pinned) {
    require_tensor(samples.defined() && samples.dim() == 2 && samples.device().is_cpu() &&
                       samples.is_contiguous(),
                   "select_channels", "samples", samples, "contiguous (row, tick) on the host");
    require_tensor(rows.dim() == 2 && rows.scalar_type() == at::kLong && rows.is_contiguous(),
                   "select_channels", "rows", rows, "int64 (view, channel)");
    require_tensor(ids.sizes() == rows.sizes() && ids.scalar_type() == at::kInt && ids.is_contiguous(),
                   "select_channels", "ids", ids, "int32, same shape as rows");
    const std::int64_t ticks = samples.size(1);
    SelectedChannels selected;
    selected.waveforms = host_tensor({rows.size(0), rows.size(1), ticks}, samples.scalar_type(), pinned);
    selected.good = host_tensor(rows.sizes(), at::kBool, pinned);
    // Merged, because touching ranges may cover the readout together.
    const auto bad_by_channel = merged_by_channel(bad);
    static const std::vector<ChannelRange> none;

    std::vector<RowFindings> found_in(static_cast<std::size_t>(rows.numel()));
    const auto* row_of = rows.const_data_ptr<std::int64_t>();
    const auto* id_of = ids.const_data_ptr<std::int32_t>();
    AT_DISPATCH_V2(samples.scalar_type(), "select_channels", AT_WRAP([&] {
                       const auto* in = samples.const_data_ptr<scalar_t>();
                       auto* out = selected.waveforms.mutable_data_ptr<scalar_t>();
                       at::parallel_for(0, rows.numel(), 16, [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t i = begin; i < end; ++i) {
                               const auto found = bad_by_channel.find(id_of[i]);
                               const auto* row = row_of[i] < 0 ? nullptr : in + row_of[i] * ticks;
                               const auto& masked = found == bad_by_channel.end() ? none : found->second;
                               RowFindings& findings = found_in[static_cast<std::size_t>(i)];
                               findings.verdict = fill_row(out + i * ticks, row, ticks, masked, largest);
                               if (findings.verdict == Verdict::good) {
                                   findings.constant = is_constant(row, ticks);
                                   findings.partly_masked = !masked.empty();
                                   if (rails) {
                                       findings.saturated = ranges_at_rails(row, ticks, id_of[i], *rails);
                                   }
                               }
                           }
                       });
                   }),
                   at::kShort, at::kFloat, at::kDouble);

    auto* good = selected.good.mutable_data_ptr<bool>();
    selected.counts.resize(static_cast<std::size_t>(rows.size(0)));
    for (std::int64_t i = 0; i < rows.numel(); ++i) {
        const RowFindings& findings = found_in[static_cast<std::size_t>(i)];
        good[i] = findings.verdict == Verdict::good;
        const ChannelRange whole{id_of[i], 0, ticks};
        if (findings.verdict == Verdict::missing) {
            selected.missing.push_back(whole);
        } else if (findings.verdict == Verdict::not_finite) {
            selected.not_finite.push_back(whole);
        } else if (findings.verdict == Verdict::out_of_range) {
            selected.out_of_range.push_back(whole);
        }
        selected.saturated.insert(selected.saturated.end(), findings.saturated.begin(),
                                  findings.saturated.end());
        count(selected.counts[static_cast<std::size_t>(i / rows.size(1))], findings);
    }
    return selected;
}

} // namespace spng
