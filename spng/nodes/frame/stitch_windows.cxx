// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/stitch_windows.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/tensor_checks.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>

namespace spng {
namespace {

const Registration<StitchWindows> registration{
    {.type = "SPNGStitchWindows",
     .kind = "frame",
     .inputs = {"frame"},
     .outputs = {"frame"},
     .concurrency = Concurrency::serial,
     .text = "joins the readout windows of a long readout into frames without overlap",
     .memory = passing_memory_rule()}};

/// Copy the first ticks(channel) ticks of each row of `carried` over those of `rows`, both (channel, tick).
void overwrite_heads(at::Tensor& rows, const at::Tensor& carried, const at::Tensor& ticks) {
    const auto* count = ticks.const_data_ptr<std::int64_t>();
    AT_DISPATCH_V2(rows.scalar_type(), "overwrite_heads", AT_WRAP([&] {
                       auto* to = rows.mutable_data_ptr<scalar_t>();
                       const auto* from = carried.const_data_ptr<scalar_t>();
                       at::parallel_for(0, rows.size(0), 64, [&](std::int64_t begin, std::int64_t end) {
                           for (std::int64_t row = begin; row < end; ++row) {
                               std::copy_n(from + row * carried.size(1), count[row], to + row * rows.size(1));
                           }
                       });
                   }),
                   at::kShort, at::kFloat);
}

} // namespace

at::Tensor ticks_beyond(const at::Tensor& mask, std::int64_t tick) {
    require_tensor(mask.defined() && mask.dim() == 2 && mask.scalar_type() == at::kShort &&
                       mask.device().is_cpu() && mask.is_contiguous(),
                   "ticks_beyond", "mask", mask, "contiguous int16 (channel, tick) on the host");
    const std::int64_t ticks = mask.size(1);
    require_argument(tick >= 1 && tick <= ticks, "ticks_beyond", "tick", tick,
                     "1 to " + std::to_string(ticks));
    at::Tensor beyond = at::empty({mask.size(0)}, at::kLong);
    const auto* set = mask.const_data_ptr<std::int16_t>();
    auto* count = beyond.mutable_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < mask.size(0); ++row) {
        const auto* const begin = set + row * ticks + tick;
        const auto* const end = set + (row + 1) * ticks;
        count[row] = begin[-1] == 0 ? 0 : std::find(begin, end, 0) - begin;
    }
    return beyond;
}

void StitchWindows::configured() {
    for (const auto& tag : config().region_tags) {
        if (std::find(config().tags.begin(), config().tags.end(), tag) == config().tags.end()) {
            reject("region_tags", tag, "a subset of tags: " + joined(config().tags));
        }
    }
}

bool StitchWindows::is_region_tag(const std::string& tag) const {
    return std::find(config().region_tags.begin(), config().region_tags.end(), tag) !=
           config().region_tags.end();
}

bool StitchWindows::is_next(const ReadoutWindow& window, double core_start_ns) const {
    const bool is_same_readout = m_carry && m_carry->window.readout == window.readout;
    const std::int64_t expected = is_same_readout ? m_carry->window.index + 1 : 0;
    if (window.index != expected) {
        log::warn(name().text(), [&] {
            return "long readout " + std::to_string(window.readout) + ": the output lacks the ticks " +
                   (is_same_readout ? "from " + std::to_string(m_carry->end_ns) + " ns " : std::string()) +
                   "to " + std::to_string(core_start_ns) + " ns, because " +
                   std::to_string(window.index - expected) + " of its readout windows failed";
        });
    }
    return is_same_readout && window.index == expected;
}

StitchWindows::Carry StitchWindows::carry_of(const TensorSet& set, double end_ns) const {
    Carry carry{*set.event().window, end_ns, {}, {}};
    if (!config().region_tags.empty()) {
        const std::int64_t core_end = carry.window.core_end;
        carry.ticks = ticks_beyond(set.at(config().roi).data, core_end);
        const auto* ticks = carry.ticks.const_data_ptr<std::int64_t>();
        const std::int64_t longest =
            carry.ticks.numel() == 0 ? 0 : *std::max_element(ticks, ticks + carry.ticks.numel());
        for (const auto& tag : config().region_tags) {
            carry.rois[tag] = set.at(tag).data.narrow(1, core_end, longest).clone();
        }
    }
    return carry;
}

Ports StitchWindows::process(const Ports& inputs) {
    const TensorSet& set = *inputs[0];
    if (!set.event().window) {
        return inputs;
    }
    NVTX_SCOPED_RANGE("StitchWindows::stitch");
    const ReadoutWindow window = *set.event().window;
    auto event = std::make_shared<EventInfo>(set.event());
    event->window.reset();
    event->start += static_cast<double>(window.core_begin) * event->tick;
    event->ticks = window.core_end - window.core_begin;
    event->masks = masks_within(event->masks, window.core_begin, window.core_end);
    const double core_start_ns = event->start + event->first_tick * event->tick;
    const bool has_carry = is_next(window, core_start_ns) && !config().region_tags.empty();

    std::vector<NamedTensor> tensors;
    for (const auto& tag : config().tags) {
        NamedTensor tensor = set.at(tag);
        tensor.data = tensor.data.narrow(1, window.core_begin, event->ticks).clone();
        tensor.axes.back().start += static_cast<double>(window.core_begin) * event->tick;
        if (has_carry && is_region_tag(tag)) {
            const at::Tensor& carried = m_carry->rois.at(tag);
            require_tensor(carried.size(0) == tensor.data.size(0) && carried.size(1) <= event->ticks &&
                               carried.scalar_type() == tensor.data.scalar_type(),
                           "StitchWindows", "readout window", tensor.data,
                           "channels and type of the previous readout window");
            overwrite_heads(tensor.data, carried, m_carry->ticks);
        }
        note_findings(tensor.notes, event->masks, event->ticks);
        tensors.push_back(std::move(tensor));
    }
    m_carry = carry_of(set, core_start_ns + static_cast<double>(event->ticks) * event->tick);
    return {std::make_shared<const TensorSet>(std::move(event), std::move(tensors))};
}

} // namespace spng
