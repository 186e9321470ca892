// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/fault_copies.h"

#include "spng/device/host_copy.h"
#include "spng/nodes/channels/channel_faults.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace spng {
namespace {

/// Return the ranges of the frame's channels as masks, in ticks of this period [ns].
ChannelMasks masks_of(const FaultCopy& copy, const std::vector<int>& channels, double period) {
    const at::Tensor& ticks = copy.bad_ticks.ticks;
    const auto* id = copy.ids.const_data_ptr<std::int32_t>();
    const auto* value = ticks.const_data_ptr<std::int32_t>();
    const std::int64_t ranges = ticks.size(2);
    ChannelMasks masks;
    for (std::int64_t row = 0; row < copy.ids.numel(); ++row) {
        if (!std::binary_search(channels.begin(), channels.end(), id[row])) {
            continue;
        }
        for (std::int64_t range = row * ranges; range < (row + 1) * ranges; ++range) {
            if (value[2 * range] < value[2 * range + 1]) {
                masks[copy.bad_ticks.mask].push_back({id[row], value[2 * range], value[2 * range + 1]});
            }
        }
    }
    if (masks.empty()) {
        return masks;
    }
    masks = resampled(std::move(masks), period_ratio(copy.bad_ticks.period, period));
    masks["bad"] = masks.at(copy.bad_ticks.mask);
    return masks;
}

} // namespace

std::vector<FaultCopy> copied_faults(const std::vector<TensorSetPtr>& sets) {
    std::vector<FaultCopy> copied;
    std::vector<at::Tensor> known;
    const auto is_new = [&known](const at::Tensor& values) {
        const bool is_known =
            std::any_of(known.begin(), known.end(), [&](const auto& other) { return other.is_same(values); });
        if (values.defined() && !is_known) {
            known.push_back(values);
        }
        return values.defined() && !is_known;
    };
    for (const auto& set : sets) {
        for (const NamedTensor& tensor : set->tensors()) {
            if (!tensor.channels) {
                continue;
            }
            const ChannelTable& table = *tensor.channels;
            if (is_new(table.fault)) {
                copied.push_back({table.ids, begin_copy_to_host(table.fault), {}});
            }
            for (const BadTickRanges& each : table.bad_ticks) {
                if (is_new(each.ticks)) {
                    copied.push_back(
                        {table.ids, {}, {each.mask, each.period, begin_copy_to_host(each.ticks)}});
                }
            }
        }
    }
    return copied;
}

std::shared_ptr<const EventInfo> with_faults(const std::shared_ptr<const EventInfo>& event,
                                             const std::vector<FaultCopy>& faults,
                                             const std::vector<int>& channels) {
    if (faults.empty()) {
        return event;
    }
    auto own = std::make_shared<EventInfo>(*event);
    bool has_bad_ticks = false;
    for (const FaultCopy& each : faults) {
        if (each.fault.defined()) {
            add_faults(own->masks, each.ids, each.fault, channels, event->ticks);
        } else {
            add_masks(own->masks, masks_of(each, channels, event->tick), 0);
            has_bad_ticks = true;
        }
    }
    if (has_bad_ticks) {
        own->masks = masks_within(own->masks, 0, event->ticks);
    }
    return own;
}

} // namespace spng
