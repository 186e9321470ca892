#include "spng/coincidence/group_crossings.h"

#include "spng/detector/wire_crossings.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <map>

namespace spng {
namespace {

std::int64_t rows_before(const std::vector<ChannelView>& views, std::size_t end) {
    std::int64_t rows = 0;
    for (std::size_t view = 0; view < end; ++view) {
        rows += static_cast<std::int64_t>(views[view].channels.size());
    }
    return rows;
}

/// A plane's crossings with the position of each row in them.
struct Plane {
    WireCrossings crossings;
    std::map<std::int32_t, std::int64_t> position_of_row;
};

} // namespace

GroupCrossings find_group_crossings(const WireAnode& anode, const std::vector<ChannelView>& views,
                                    std::size_t first_view, std::size_t count) {
    const AnodeCells cells = find_anode_cells(anode, views);
    std::map<int, Plane> planes;
    for (std::size_t view = first_view; view < first_view + count; ++view) {
        const int plane = views[view].plane;
        if (planes.count(plane) == 0) {
            Plane made{make_wire_crossings(anode, views, cells, plane), {}};
            const auto* row = made.crossings.target_rows.const_data_ptr<std::int32_t>();
            for (std::int64_t i = 0; i < made.crossings.target_rows.numel(); ++i) {
                made.position_of_row.emplace(row[i], i);
            }
            planes.emplace(plane, std::move(made));
        }
    }

    GroupCrossings group;
    group.first_row = rows_before(views, first_view);
    const std::int64_t end_row = rows_before(views, first_view + count);
    std::vector<std::int32_t> offsets{0}, pairs;
    std::vector<std::vector<std::int32_t>> neighbours;
    std::size_t most_neighbours = 1;
    std::size_t view = first_view;
    for (std::int64_t row = group.first_row; row < end_row; ++row) {
        while (row >= rows_before(views, view + 1)) {
            ++view;
        }
        const Plane& plane = planes.at(views[view].plane);
        const std::int64_t position = plane.position_of_row.at(static_cast<std::int32_t>(row));
        const auto* offset = plane.crossings.offsets.const_data_ptr<std::int32_t>();
        const auto* pair = plane.crossings.pairs.const_data_ptr<std::int32_t>();
        pairs.insert(pairs.end(), pair + 2 * offset[position], pair + 2 * offset[position + 1]);
        offsets.push_back(static_cast<std::int32_t>(pairs.size() / 2));

        const auto* neighbour_offset = plane.crossings.neighbour_offsets.const_data_ptr<std::int32_t>();
        const auto* neighbour = plane.crossings.neighbours.const_data_ptr<std::int32_t>();
        const auto* target_row = plane.crossings.target_rows.const_data_ptr<std::int32_t>();
        neighbours.emplace_back();
        for (std::int32_t i = neighbour_offset[position]; i < neighbour_offset[position + 1]; ++i) {
            const std::int64_t beside = target_row[neighbour[i]];
            if (beside >= group.first_row && beside < end_row) {
                neighbours.back().push_back(static_cast<std::int32_t>(beside - group.first_row));
            }
        }
        most_neighbours = std::max(most_neighbours, neighbours.back().size());
    }
    group.offsets = at::tensor(offsets, at::kInt);
    group.pairs = at::tensor(pairs, at::kInt).reshape({-1, 2});
    group.neighbours =
        at::full({static_cast<std::int64_t>(neighbours.size()), static_cast<std::int64_t>(most_neighbours)},
                 -1, at::kInt);
    auto* out = group.neighbours.mutable_data_ptr<std::int32_t>();
    for (const auto& list : neighbours) {
        std::copy(list.begin(), list.end(), out);
        out += most_neighbours;
    }
    return group;
}

} // namespace spng
