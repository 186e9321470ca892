#include "spng/frame/channel_selection.h"

#include "spng/core/tensor_checks.h"
#include "spng/device/page_locked.h"
#include "spng/frame/channel_ranges.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace spng {
namespace {

/// All finite, found without a branch in the loop: x - x is 0 for finite values and NaN for the others.
template <class T>
bool all_finite(const T* samples, std::int64_t count) {
    if constexpr (std::is_floating_point_v<T>) {
        T sum = 0;
        for (std::int64_t i = 0; i < count; ++i) {
            sum += samples[i] - samples[i];
        }
        return sum == 0;
    } else {
        return true;
    }
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

/// Replace [begin, end) by the line between its neighbours, or by the one neighbour there is.
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

enum class Verdict : std::uint8_t { good, missing, not_finite, dead };

template <class T>
Verdict fill_row(T* out, const T* in, std::int64_t ticks, const std::vector<ChannelRange>& bad) {
    Verdict verdict = Verdict::good;
    if (in == nullptr) {
        verdict = Verdict::missing;
    } else if (!all_finite(in, ticks)) {
        verdict = Verdict::not_finite;
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

} // namespace

SelectedChannels select_channels(const at::Tensor& samples, const at::Tensor& rows, const at::Tensor& ids,
                                 const std::vector<ChannelRange>& bad, std::optional<Rails> rails,
                                 bool pinned) {
    require_tensor(samples.defined() && samples.dim() == 2 && samples.device().is_cpu() &&
                       samples.is_contiguous(),
                   "select_channels", "samples", samples, "contiguous (row, tick) on the host");
    require_tensor(rows.dim() == 2 && rows.scalar_type() == at::kLong && rows.is_contiguous(),
                   "select_channels", "rows", rows, "int64 (view, channel)");
    require_tensor(ids.sizes() == rows.sizes() && ids.scalar_type() == at::kInt && ids.is_contiguous(),
                   "select_channels", "ids", ids, "int32, same shape as rows");
    const std::int64_t ticks = samples.size(1);
    const std::int64_t count = rows.numel();
    SelectedChannels selected;
    selected.waveforms = host_tensor({rows.size(0), rows.size(1), ticks}, samples.scalar_type(), pinned);
    selected.good = host_tensor(rows.sizes(), at::kBool, pinned);
    // Merged, so that ranges that touch may cover the readout together.
    const auto bad_by_channel = merged_by_channel(bad);
    static const std::vector<ChannelRange> none;

    std::vector<Verdict> verdicts(count);
    std::vector<std::vector<ChannelRange>> saturated(count);
    const auto* row_of = rows.const_data_ptr<std::int64_t>();
    const auto* id_of = ids.const_data_ptr<std::int32_t>();
    AT_DISPATCH_V2(samples.scalar_type(), "select_channels", AT_WRAP([&] {
                       const auto* in = samples.const_data_ptr<scalar_t>();
                       auto* out = selected.waveforms.mutable_data_ptr<scalar_t>();
                       at::parallel_for(0, count, 16, [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t i = begin; i < end; ++i) {
                               const auto found = bad_by_channel.find(id_of[i]);
                               const auto* row = row_of[i] < 0 ? nullptr : in + row_of[i] * ticks;
                               verdicts[i] = fill_row(out + i * ticks, row, ticks,
                                                      found == bad_by_channel.end() ? none : found->second);
                               if (verdicts[i] == Verdict::good && rails) {
                                   saturated[i] = ranges_at_rails(row, ticks, id_of[i], *rails);
                               }
                           }
                       });
                   }),
                   at::kShort, at::kFloat, at::kDouble);

    auto* good = selected.good.mutable_data_ptr<bool>();
    for (std::int64_t i = 0; i < count; ++i) {
        good[i] = verdicts[i] == Verdict::good;
        const ChannelRange whole{id_of[i], 0, ticks};
        if (verdicts[i] == Verdict::missing) {
            selected.missing.push_back(whole);
        } else if (verdicts[i] == Verdict::not_finite) {
            selected.not_finite.push_back(whole);
        }
        selected.saturated.insert(selected.saturated.end(), saturated[i].begin(), saturated[i].end());
    }
    return selected;
}

} // namespace spng
