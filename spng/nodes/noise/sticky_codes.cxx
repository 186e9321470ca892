// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/sticky_codes.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/row_chunks.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/context.h"
#include "spng/graph/reported.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cummax.h>
#include <ATen/ops/cummin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/remainder.h>
#include <ATen/ops/round.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace spng {
namespace {

constexpr double min_step = 1.0 / 8;       // of the modulus: smaller steps of stuck samples do no harm
constexpr double min_mean = 1.0 / 16;      // of the modulus: mean step from which a histogram is flat enough
constexpr double min_excess = 2;           // ratio of counts at the codes to those at adjacent codes
constexpr std::int64_t adjacent_reach = 2; // adjacent codes on either side
constexpr std::int64_t max_cubic_run = 6;  // longer runs: the cubic is worse than the line
constexpr std::int64_t sample_bytes = 248; // temporaries of repaired()

const Registration<StickyCodes> registration{
    {.type = "SPNGStickyCodes",
     .kind = "noise",
     .text = "repairs samples of digitisers whose low bits stick, in the channels where they do",
     .memory = step_memory_rule(
         {.use = MemoryUse::input, .copies = 0, .bytes = composition_bytes, .sample_bytes = 2})}};

bool contains(const std::vector<std::int64_t>& list, std::int64_t value) {
    return std::find(list.begin(), list.end(), value) != list.end();
}

/// Return the codes beside `codes` that are not in the list themselves, around the modulus.
std::vector<std::int64_t> adjacent_codes(const std::vector<std::int64_t>& codes, std::int64_t modulus) {
    std::vector<std::int64_t> adjacent;
    for (std::int64_t code = 0; code < modulus; ++code) {
        bool is_near = false;
        for (std::int64_t shift = -adjacent_reach; shift <= adjacent_reach; ++shift) {
            is_near = is_near || contains(codes, (code + shift + modulus) % modulus);
        }
        if (is_near && !contains(codes, code)) {
            adjacent.push_back(code);
        }
    }
    return adjacent;
}

at::Tensor is_one_of(const at::Tensor& low_bits, const std::vector<std::int64_t>& codes) {
    at::Tensor found = low_bits == codes.front();
    for (std::size_t i = 1; i < codes.size(); ++i) {
        found.logical_or_(low_bits == codes[i]);
    }
    return found;
}

/// Return which channels stick, (row) bool.
/// @param at_code  (row, tick) bool
at::Tensor sticking(const at::Tensor& samples, const at::Tensor& at_code, const at::Tensor& low_bits,
                    const StickyCodesConfig& rule) {
    const std::int64_t inner = samples.size(-1) - 2;
    const auto here = at_code.narrow(-1, 1, inner);
    const auto clean = (at_code.narrow(-1, 0, inner) | at_code.narrow(-1, 2, inner)).logical_not_();
    const auto step = (samples.narrow(-1, 0, inner) + samples.narrow(-1, 2, inner))
                          .mul_(-0.5)
                          .add_(samples.narrow(-1, 1, inner))
                          .abs_();
    const auto ordinary = clean & here.logical_not();
    const auto mean = at::where(ordinary, step, 0).sum(-1) / ordinary.sum(-1).clamp_min(1);
    const auto limit = (mean * 2).clamp_min(min_step * static_cast<double>(rule.modulus));
    const auto large = (step > limit.unsqueeze(-1)).logical_and_(clean);
    const auto codes = adjacent_codes(rule.codes, rule.modulus);
    const auto adjacent = is_one_of(low_bits, codes);
    const double share = static_cast<double>(rule.codes.size()) / static_cast<double>(codes.size());
    const auto exceeds = [&](const at::Tensor& at_codes, const at::Tensor& at_adjacent) {
        const auto expected = at_adjacent.sum(-1) * share;
        return at_codes.sum(-1) > expected * min_excess + (expected + 1).sqrt() * rule.significance;
    };
    return exceeds(large & here, large & adjacent.narrow(-1, 1, inner)) |
           (exceeds(at_code, adjacent) & (mean >= min_mean * static_cast<double>(rule.modulus)));
}

/// Interpolate the samples at the codes.
at::Tensor repaired(const at::Tensor& samples, const at::Tensor& at_code, const at::Tensor& low_bits,
                    std::int64_t modulus) {
    const std::int64_t ticks = samples.size(-1);
    const auto tick = at::arange(ticks, samples.options().dtype(at::kLong)).expand_as(samples);
    // The nearest usable ticks before and behind, and their nearest ones: left2 < left < tick < right < right2.
    const auto before = std::get<0>(at::cummax(at::where(at_code, -1, tick), -1));
    const auto behind = std::get<0>(at::cummin(at::where(at_code, ticks, tick).flip(-1), -1)).flip(-1);
    const auto left2 = at::where(before > 0, at::gather(before, -1, (before - 1).clamp_min_(0)), -1);
    const auto right2 =
        at::where(behind < ticks - 1, at::gather(behind, -1, (behind + 1).clamp_max_(ticks - 1)), ticks);
    const auto value = [&](const at::Tensor& from) {
        return at::gather(samples, -1, from.clamp(0, ticks - 1));
    };
    const auto left_value = value(before);
    const auto right_value = value(behind);
    const auto type = samples.scalar_type();
    const auto a = (tick - left2).to(type), b = (tick - before).to(type);
    const auto c = (behind - tick).to(type), d = (right2 - tick).to(type);

    const auto from = at::where(before < 0, right_value, left_value);
    const auto to = at::where(behind >= ticks, from, right_value);
    const auto line = from + (to - from) * (b / (b + c));
    const auto cubic = left_value * (a * c * d / ((a - b) * (b + c) * (b + d))) -
                       value(left2) * (b * c * d / ((a - b) * (a + c) * (a + d))) +
                       right_value * (a * b * d / ((a + c) * (b + c) * (d - c))) -
                       value(right2) * (a * b * c / ((a + d) * (b + d) * (d - c)));
    const auto is_cubic = (left2 >= 0) & (right2 < ticks) & (b + c <= max_cubic_run + 1);
    const auto lowest = samples - low_bits.to(type);
    auto result = at::minimum(at::maximum(at::where(is_cubic, cubic, line), lowest),
                              lowest + static_cast<double>(modulus - 1));
    return at::where((before < 0) & (behind >= ticks), samples, result);
}

/// Return the counts of each view as the note; no note if nothing was repaired.
/// @param counts  (3, view) int64 on the host: channels that stick, samples, channels mostly at the codes
Notes note_of(const at::Tensor& counts, const std::vector<std::string>& views) {
    const auto* value = counts.const_data_ptr<std::int64_t>();
    const std::size_t count = views.size();
    std::string text;
    for (std::size_t view = 0; view < count; ++view) {
        if (value[view] > 0) {
            text += (text.empty() ? "" : "; ") + views[view] + ": " + std::to_string(value[count + view]) +
                    " samples of " + std::to_string(value[view]) + " channels interpolated, " +
                    std::to_string(value[2 * count + view]) + " of them with more than half of their samples";
        }
    }
    return text.empty() ? Notes{} : Notes{{"sticky_codes", text}};
}

} // namespace

RepairedSamples repair_sticky_codes(const at::Tensor& waveforms, const at::Tensor& good,
                                    const StickyCodesConfig& rule, bool picks_rows) {
    require_waveforms("repair_sticky_codes", waveforms, good);
    const bool is_integer = waveforms.scalar_type() == at::kShort;
    RepairedSamples result{at::empty(waveforms.sizes(), waveforms.options()),
                           at::zeros(good.sizes(), good.options().dtype(at::kLong))};
    const std::int64_t ticks = waveforms.size(-1);
    if (waveforms.numel() == 0 || ticks < 3) {
        result.waveforms.copy_(waveforms);
        return result;
    }
    const auto all = as_rows(waveforms), to = as_rows(result.waveforms);
    const auto flags = good.flatten(), counts = result.counts.flatten();
    const auto real = is_integer ? at::kFloat : waveforms.scalar_type();
    const auto work = [&](std::int64_t first, std::int64_t count) {
        const auto own = all.narrow(0, first, count);
        const auto low_bits = at::remainder(own, rule.modulus);
        auto at_code = is_one_of(low_bits, rule.codes);
        if (rule.adc_bits > 0) {
            const std::int64_t highest = (std::int64_t{1} << rule.adc_bits) - 1;
            at_code.logical_and_(own != 0).logical_and_(own != highest);
        }
        const auto samples = own.to(real);
        const auto sticks = sticking(samples, at_code, low_bits, rule) & flags.narrow(0, first, count);
        at_code.logical_and_(sticks.unsqueeze(-1));
        counts.narrow(0, first, count).copy_(at_code.sum(-1));
        const auto replaced = [&](const at::Tensor& part, const at::Tensor& stuck, const at::Tensor& bits) {
            auto values = repaired(part, stuck, bits, rule.modulus);
            return at::where(stuck, is_integer ? values.round_() : values, part).to(own.scalar_type());
        };
        auto target = to.narrow(0, first, count);
        if (!picks_rows) {
            target.copy_(replaced(samples, at_code, low_bits));
            return;
        }
        target.copy_(own);
        const auto rows = sticks.nonzero().squeeze(-1);
        if (rows.numel() > 0) {
            target.index_copy_(0, rows,
                               replaced(samples.index_select(0, rows), at_code.index_select(0, rows),
                                        low_bits.index_select(0, rows)));
        }
    };
    for_row_chunks(all.size(0), ticks * sample_bytes, work,
                   waveforms.is_cpu() ? cached_composition_bytes : composition_bytes);
    return result;
}

void StickyCodes::configured() {
    if (!std::has_single_bit(static_cast<std::uint64_t>(config().modulus))) {
        reject("modulus", std::to_string(config().modulus), "a power of two");
    }
    auto codes = config().codes;
    std::sort(codes.begin(), codes.end());
    if (codes.back() >= config().modulus || std::adjacent_find(codes.begin(), codes.end()) != codes.end() ||
        2 * static_cast<std::int64_t>(codes.size()) > config().modulus) {
        reject("codes", std::to_string(codes.size()) + " values up to " + std::to_string(codes.back()),
               "different values below modulus, " + std::to_string(config().modulus) +
                   ", and at most half of these");
    }
}

NamedTensor StickyCodes::reporting_step(NamedTensor tensor, const EventInfo& /*event*/, Reports& reports) {
    NVTX_SCOPED_RANGE("StickyCodes::repair");
    const c10::Device device = context().device();
    RepairedSamples repaired = repair_sticky_codes(tensor.data.to(device), tensor.channels->good, config(),
                                                   /*picks_rows=*/device.is_cpu());
    tensor.data = std::move(repaired.waveforms);
    const at::Tensor& samples = repaired.counts;
    const at::Tensor counts =
        at::stack({(samples > 0).sum(-1), samples.sum(-1), (samples * 2 > tensor.data.size(-1)).sum(-1)});
    const auto read = [views = tensor.channels->views](const at::Tensor& values) {
        return note_of(values, views);
    };
    merge_notes(tensor.notes, reported(name().text(), counts, tensor.channels->ids, read, reports));
    return tensor;
}

} // namespace spng
