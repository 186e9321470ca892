// SPDX-License-Identifier: Apache-2.0
#pragma once
// Marked tick ranges of channels. C++17, without LibTorch, for every folder and for other programs.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace spng {

/// Ticks [begin, end) of a channel that carry a mark ("bad", "nan", "saturated", ...). In a frame they count from its
/// start, as in the Wire-Cell Toolkit: sample t of a row is tick first_tick + t. Ticks outside of the samples have no
/// effect.
struct ChannelRange {
    int channel = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;

    friend bool operator==(const ChannelRange& left, const ChannelRange& right) {
        return left.channel == right.channel && left.begin == right.begin && left.end == right.end;
    }
    friend bool operator!=(const ChannelRange& left, const ChannelRange& right) { return !(left == right); }
};

/// The channel masks of an event, by name.
using ChannelMasks = std::map<std::string, std::vector<ChannelRange>>;

} // namespace spng
