// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/row_selection.h"

#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

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
bool any_at_rails(const T* samples, std::int64_t count, Rails rails) {
    const auto low = static_cast<T>(rails.low);
    const auto high = static_cast<T>(rails.high);
    bool any = false;
    for (std::int64_t i = 0; i < count; ++i) {
        any |= (samples[i] <= low) | (samples[i] >= high);
    }
    return any;
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

/// Ticks [begin, end).
struct Ticks {
    std::int64_t begin, end;
};

template <class T>
Verdict fill_row(T* out, const T* in, std::int64_t ticks, const Ticks* bad, const Ticks* end_of_bad,
                 double largest) {
    Verdict verdict = Verdict::good;
    if (in == nullptr) {
        verdict = Verdict::missing;
    } else if (!all_within(in, ticks, largest)) {
        verdict = all_finite(in, ticks) ? Verdict::out_of_range : Verdict::not_finite;
    } else if (bad != end_of_bad && bad->begin == 0 && bad->end == ticks) {
        verdict = Verdict::dead;
    }
    if (verdict != Verdict::good) {
        std::fill(out, out + ticks, T{0});
        return verdict;
    }
    std::copy(in, in + ticks, out);
    for (; bad != end_of_bad; ++bad) {
        bridge(out, ticks, bad->begin, bad->end);
    }
    return verdict;
}

template <class T>
void fill_rows(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails, double largest,
               SelectedRows& selected) {
    const std::int64_t ticks = frame.size(1);
    const auto* in = frame.const_data_ptr<T>();
    const auto* row_of = table.rows.const_data_ptr<std::int64_t>();
    const auto* offset = table.offsets.const_data_ptr<std::int64_t>();
    const auto* bad = reinterpret_cast<const Ticks*>(table.ranges.const_data_ptr<std::int64_t>());
    auto* out = selected.waveforms.mutable_data_ptr<T>();
    auto* good = selected.good.mutable_data_ptr<bool>();
    auto* flags = selected.flags.mutable_data_ptr<std::uint8_t>();
    at::parallel_for(0, table.rows.numel(), 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const T* row = row_of[i] < 0 ? nullptr : in + row_of[i] * ticks;
            const Verdict verdict =
                fill_row(out + i * ticks, row, ticks, bad + offset[i], bad + offset[i + 1], largest);
            good[i] = verdict == Verdict::good;
            unsigned flag = static_cast<unsigned>(verdict);
            if (good[i]) {
                flag |= is_constant(row, ticks) ? constant_row : 0;
                flag |= rails && any_at_rails(row, ticks, *rails) ? saturated_row : 0;
            }
            flags[i] = static_cast<std::uint8_t>(flag);
        }
    });
}

void check_arguments(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails) {
    const char* name = "select_rows";
    const auto is_long = [&](const at::Tensor& tensor) {
        return tensor.defined() && tensor.scalar_type() == at::kLong && tensor.is_contiguous() &&
               tensor.device() == frame.device();
    };
    require_tensor(frame.defined() && frame.dim() == 2 && frame.is_contiguous() &&
                       (frame.scalar_type() == at::kShort || is_real(frame)),
                   name, "frame", frame, "contiguous (row, tick) int16, float32 or float64");
    require_tensor(!rails || frame.scalar_type() == at::kShort, name, "frame", frame,
                   "int16, if there are rails");
    require_tensor(is_long(table.rows) && table.rows.dim() == 1, name, "rows", table.rows,
                   "contiguous int64 (row) on the device of the frame");
    require_tensor(is_long(table.offsets) && table.offsets.dim() == 1 &&
                       table.offsets.numel() == table.rows.numel() + 1,
                   name, "offsets", table.offsets, "contiguous int64, one more than rows");
    require_tensor(is_long(table.ranges) && table.ranges.dim() == 2 && table.ranges.size(1) == 2, name,
                   "ranges", table.ranges, "contiguous int64 (range, 2)");
}

std::tuple<at::Tensor, at::Tensor, at::Tensor>
select_rows_cpu(const at::Tensor& frame, const at::Tensor& rows, const at::Tensor& offsets,
                const at::Tensor& ranges, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                double largest) {
    const auto rails = low && high ? std::optional(Rails{*low, *high}) : std::nullopt;
    SelectedRows selected = select_rows_on_host(frame, {rows, offsets, ranges}, rails, largest);
    return {std::move(selected.waveforms), std::move(selected.good), std::move(selected.flags)};
}

const Operator select_rows_op{
    "select_rows(Tensor frame, Tensor rows, Tensor offsets, Tensor ranges, int? low, int? high, "
    "float largest) -> (Tensor, Tensor, Tensor)",
    select_rows_cpu, kernels::select_rows};

} // namespace

SelectedRows select_rows_on_host(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails,
                                 double largest) {
    check_arguments(frame, table, rails);
    require_tensor(frame.is_cpu(), "select_rows_on_host", "frame", frame, "on the host");
    const std::int64_t rows = table.rows.numel();
    SelectedRows selected{at::empty({rows, frame.size(1)}, frame.scalar_type()), at::empty({rows}, at::kBool),
                          at::empty({rows}, at::kByte)};
    AT_DISPATCH_V2(frame.scalar_type(), "select_rows",
                   AT_WRAP([&] { fill_rows<scalar_t>(frame, table, rails, largest, selected); }), at::kShort,
                   at::kFloat, at::kDouble);
    return selected;
}

SelectedRows select_rows(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails,
                         double largest) {
    check_arguments(frame, table, rails);
    auto [waveforms, good, flags] = select_rows_op(
        frame, table.rows, table.offsets, table.ranges, rails ? std::optional(rails->low) : std::nullopt,
        rails ? std::optional(rails->high) : std::nullopt, largest);
    return {std::move(waveforms), std::move(good), std::move(flags)};
}

} // namespace spng
