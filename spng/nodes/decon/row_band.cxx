// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/row_band.h"

#include <ATen/TensorOperators.h>

#include <algorithm>

namespace spng {

RowBand row_band(const ChannelTable& channels, std::int64_t margin) {
    const std::int64_t rows = channels.good.size(1);
    const at::Tensor is_present =
        channels.fault.defined() ? channels.good.logical_or(channels.fault != 0) : channels.good;
    const at::Tensor in_a_view = is_present.any(0).contiguous();
    const auto* begin = in_a_view.const_data_ptr<bool>();
    const auto* first = std::find(begin, begin + rows, true);
    if (first == begin + rows) {
        return {0, std::min(rows, 2 * margin + 1)};
    }
    std::int64_t end = rows;
    while (!begin[end - 1]) {
        --end;
    }
    const std::int64_t from = std::max<std::int64_t>(0, first - begin - margin);
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
