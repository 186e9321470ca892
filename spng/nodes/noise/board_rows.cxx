// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/board_rows.h"

#include "spng/core/error.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

namespace spng {
namespace {

/// Return the value of a view from a list with one value per view or one for all.
std::int64_t value_for_view(const std::vector<std::int64_t>& list, std::size_t view) {
    return list.size() == 1 ? list[0] : list[view];
}

} // namespace

at::Tensor board_rows(const ViewGroup& group, const Boards& boards, const std::string& node) {
    const auto reject = [&](const std::string& key, const std::string& seen, const std::string& expected) {
        throw Error(ErrorKind::Configuration, {.what = "configuration values do not fit together",
                                               .where = node + ", key " + key,
                                               .seen = seen,
                                               .expected = expected});
    };
    const std::size_t views = group.views.size();
    const auto require_one_per_view = [&](const char* key, const std::vector<std::int64_t>& list) {
        if (list.size() != 1 && list.size() != views) {
            reject(key, std::to_string(list.size()) + " values",
                   "one, or one for each of the " + std::to_string(views) + " views of '" + group.name + "'");
        }
    };
    require_one_per_view("board_channels", boards.channels);
    require_one_per_view("board_shift", boards.shift);
    const std::int64_t channels = group.ids.size(1);
    const std::int64_t members = boards.channels[0];
    std::vector<std::int64_t> rows(static_cast<std::size_t>(group.ids.numel()), -1);
    for (std::size_t view = 0; view < views; ++view) {
        if (channels % members != 0 || value_for_view(boards.channels, view) != members) {
            reject("board_channels", std::to_string(value_for_view(boards.channels, view)),
                   "a divisor of the " + std::to_string(channels) +
                       " channels of a view, the same for all views of the group");
        }
        const auto& ids = group.views[view].channels;
        const std::int64_t first = *std::min_element(ids.begin(), ids.end());
        const std::int64_t offset = static_cast<std::int64_t>(view) * channels;
        for (std::size_t row = 0; row < ids.size(); ++row) {
            // The channel ids of a view are consecutive; its rows may have any order.
            const std::int64_t index = ids[row] - first;
            if (index >= channels) {
                reject("group", "'" + group.name + "'", "views with consecutive channel ids");
            }
            const std::int64_t slot =
                (index + channels - value_for_view(boards.shift, view) % channels) % channels;
            rows[static_cast<std::size_t>(offset + slot)] = offset + static_cast<std::int64_t>(row);
        }
    }
    return at::tensor(rows, at::kLong).view({-1, members});
}

} // namespace spng
