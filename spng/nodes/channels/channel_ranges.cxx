// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_ranges.h"

#include <algorithm>
#include <tuple>

namespace spng {
namespace {

/// Write the note "saturated" with the counts of samples and channels in this mask. Channels that are in it for the
/// whole readout are dead at a rail and not counted.
void note_saturation(Notes& notes, const ChannelMasks& masks, std::int64_t ticks) {
    const auto found = masks.find("saturated");
    if (found == masks.end()) {
        return;
    }
    std::int64_t channels = 0, samples = 0;
    for (const auto& [channel, ranges] : merged_by_channel(found->second)) {
        std::int64_t own = 0;
        for (const auto& range : ranges) {
            own += range.end - range.begin;
        }
        if (own < ticks) {
            channels += own > 0 ? 1 : 0;
            samples += own;
        }
    }
    if (samples > 0) {
        notes["saturated"] =
            std::to_string(samples) + " samples on " + std::to_string(channels) + " channels";
    }
}

} // namespace

std::map<int, std::vector<ChannelRange>> merged_by_channel(std::vector<ChannelRange> ranges) {
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) {
        return std::tie(a.channel, a.begin, a.end) < std::tie(b.channel, b.begin, b.end);
    });
    std::map<int, std::vector<ChannelRange>> merged;
    for (const auto& range : ranges) {
        auto& list = merged[range.channel];
        if (!list.empty() && range.begin <= list.back().end) {
            list.back().end = std::max(list.back().end, range.end);
        } else if (range.begin < range.end) {
            list.push_back(range);
        }
    }
    return merged;
}

ChannelMasks masks_within(const ChannelMasks& masks, std::int64_t begin, std::int64_t end) {
    ChannelMasks within;
    for (const auto& [name, ranges] : masks) {
        std::vector<ChannelRange> cut;
        for (const auto& range : ranges) {
            const ChannelRange part{range.channel, std::max(range.begin, begin) - begin,
                                    std::min(range.end, end) - begin};
            if (part.begin < part.end) {
                cut.push_back(part);
            }
        }
        for (const auto& [channel, list] : merged_by_channel(std::move(cut))) {
            within[name].insert(within[name].end(), list.begin(), list.end());
        }
    }
    return within;
}

ChannelMasks resampled(ChannelMasks masks, const PeriodRatio& ratio) {
    for (auto& [name, ranges] : masks) {
        for (ChannelRange& range : ranges) {
            range.begin = ratio.floor(range.begin);
            range.end = ratio.ceil(range.end);
        }
    }
    return masks;
}

void note_findings(Notes& notes, const ChannelMasks& masks, std::int64_t ticks) {
    for (const char* const name : {"missing", "nan", "outofrange"}) {
        const auto found = masks.find(name);
        if (found != masks.end() && !found->second.empty()) {
            const std::size_t channels = merged_by_channel(found->second).size();
            notes[name] = std::to_string(channels) + (channels == 1 ? " channel" : " channels");
        }
    }
    note_saturation(notes, masks, ticks);
}

void add_masks(ChannelMasks& all, const ChannelMasks& masks, std::int64_t offset) {
    for (const auto& [name, ranges] : masks) {
        for (const auto& range : ranges) {
            all[name].push_back({range.channel, range.begin + offset, range.end + offset});
        }
    }
}

} // namespace spng
