// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/row_band.h"

#include <algorithm>

namespace spng {

RowBand row_band(const ChannelTable& channels, std::int64_t margin) {
    const std::int64_t views = channels.good.size(0), rows = channels.good.size(1);
    const at::Tensor good = channels.good.contiguous();
    const at::Tensor fault = channels.fault.defined() ? channels.fault.contiguous() : at::Tensor();
    const auto* is_good = good.const_data_ptr<bool>();
    const auto* fault_of = fault.defined() ? fault.const_data_ptr<std::uint8_t>() : nullptr;
    const auto has_bad_ticks = [&channels](std::int64_t row) {
        return std::ranges::any_of(channels.bad_ticks, [row](const BadTickRanges& each) {
            const std::int64_t ranges = each.ticks.size(2);
            const auto* tick = each.ticks.const_data_ptr<std::int32_t>() + 2 * ranges * row;
            for (std::int64_t range = 0; range < ranges; ++range) {
                if (tick[2 * range] < tick[2 * range + 1]) {
                    return true;
                }
            }
            return false;
        });
    };
    const auto is_used = [&](std::int64_t row) {
        for (std::int64_t i = row; i < views * rows; i += rows) {
            if (is_good[i] || (fault_of != nullptr && fault_of[i] != 0) || has_bad_ticks(i)) {
                return true;
            }
        }
        return false;
    };
    std::int64_t first = 0, end = rows;
    while (first < rows && !is_used(first)) {
        ++first;
    }
    if (first == rows) {
        return {0, std::min(rows, 2 * margin + 1)};
    }
    while (!is_used(end - 1)) {
        --end;
    }
    const std::int64_t from = std::max<std::int64_t>(0, first - margin);
    const std::int64_t to = std::min(rows, end + margin);
    return 2 * (to - from) > rows ? RowBand{0, rows} : RowBand{from, to - from};
}

std::shared_ptr<const ChannelTable> channels_of_band(const ChannelTable& channels, const RowBand& band) {
    auto narrowed = std::make_shared<ChannelTable>(channels);
    narrowed->first_row = channels.first_row + band.first;
    for (at::Tensor* each : {&narrowed->ids, &narrowed->good, &narrowed->fault}) {
        *each = each->defined() ? each->narrow(1, band.first, band.count).contiguous() : *each;
    }
    for (BadTickRanges& each : narrowed->bad_ticks) {
        each.ticks = each.ticks.narrow(1, band.first, band.count).contiguous();
    }
    return narrowed;
}

} // namespace spng
