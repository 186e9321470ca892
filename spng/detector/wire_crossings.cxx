// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/wire_crossings.h"

#include "spng/core/error.h"
#include "spng/detector/cells.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>

namespace spng {
namespace {

using Rows = std::vector<std::int32_t>;
constexpr std::int32_t no_row = -1;

struct RowNumbers {
    std::unordered_map<int, std::int32_t> of_channel;
    std::int32_t count = 0;

    explicit RowNumbers(const std::vector<ChannelView>& views) {
        for (const ChannelView& view : views) {
            for (const int channel : view.channels) {
                if (!of_channel.emplace(channel, count++).second) {
                    throw Error(ErrorKind::Configuration, {.what = "a channel is in two views",
                                                           .where = "coincidence",
                                                           .seen = "channel " + std::to_string(channel),
                                                           .expected = "each channel in at most one view",
                                                           .hint = "correct the faces of the views"});
                }
            }
        }
    }
    /// Return the row of each wire of a plane; no_row if its channel is in no view.
    Rows of_wires(const WirePlane& plane) const {
        Rows rows;
        for (const Wire& wire : plane.wires) {
            const auto found = of_channel.find(wire.channel);
            rows.push_back(found == of_channel.end() ? no_row : found->second);
        }
        return rows;
    }
};

/// Cell of a target plane: its own row and those of the two other planes.
struct TargetCell {
    std::int32_t target, a, b;

    bool operator==(const TargetCell&) const = default;
};

/// Return the cells sorted by one of their rows; cells of equal rows keep their order (counting sort).
std::vector<TargetCell> sorted_by(std::int32_t TargetCell::*row, const std::vector<TargetCell>& cells,
                                  std::int32_t row_count) {
    std::vector<std::uint32_t> start(row_count + 1, 0);
    for (const TargetCell& cell : cells) {
        ++start[cell.*row + 1];
    }
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<TargetCell> result(cells.size());
    for (const TargetCell& cell : cells) {
        result[start[cell.*row]++] = cell;
    }
    return result;
}

at::Tensor int32_tensor(const Rows& values) {
    at::Tensor tensor = at::empty({static_cast<std::int64_t>(values.size())}, at::kInt);
    std::copy(values.begin(), values.end(), tensor.mutable_data_ptr<std::int32_t>());
    return tensor;
}

/// Return the index of each row among the targets; no_row for rows of other planes.
Rows target_positions(const std::vector<ChannelView>& views, int plane, Rows& target_rows) {
    Rows positions;
    for (const ChannelView& view : views) {
        for (std::size_t row = 0; row < view.channels.size(); ++row) {
            const bool is_target = view.plane == plane;
            positions.push_back(is_target ? static_cast<std::int32_t>(target_rows.size()) : no_row);
            if (is_target) {
                target_rows.push_back(static_cast<std::int32_t>(positions.size()) - 1);
            }
        }
    }
    return positions;
}

void fill_pairs(const AnodeCells& cells, const Rows& positions, WireCrossings& table) {
    const Rows& row_a = cells.rows[table.auxiliary_planes[0]];
    const Rows& row_b = cells.rows[table.auxiliary_planes[1]];
    const Rows& row_target = cells.rows[table.target_plane];
    const auto row_count = static_cast<std::int32_t>(positions.size());
    std::vector<TargetCell> sorted(cells.size());
    for (std::size_t cell = 0; cell < sorted.size(); ++cell) {
        sorted[cell] = {row_target[cell], row_a[cell], row_b[cell]};
    }
    // Least significant key first.
    for (const auto row : {&TargetCell::b, &TargetCell::a, &TargetCell::target}) {
        sorted = sorted_by(row, sorted, row_count);
    }
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());

    Rows offsets(table.target_rows.numel() + 1, 0);
    table.pairs = at::empty({static_cast<std::int64_t>(sorted.size()), 2}, at::kInt);
    std::int32_t* pair = table.pairs.mutable_data_ptr<std::int32_t>();
    for (const TargetCell& cell : sorted) {
        ++offsets[positions[cell.target] + 1];
        *pair++ = cell.a;
        *pair++ = cell.b;
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    table.offsets = int32_tensor(offsets);
}

void fill_neighbours(const WireAnode& anode, const RowNumbers& numbers, const Rows& positions,
                     WireCrossings& table) {
    std::vector<std::pair<std::int32_t, std::int32_t>> links;
    for (const WireFace& face : anode.faces) {
        const Rows rows = numbers.of_wires(face.plane(table.target_plane));
        for (std::size_t wire = 1; wire < rows.size(); ++wire) {
            if (rows[wire - 1] != no_row && rows[wire] != no_row && rows[wire - 1] != rows[wire]) {
                links.emplace_back(positions[rows[wire - 1]], positions[rows[wire]]);
                links.emplace_back(positions[rows[wire]], positions[rows[wire - 1]]);
            }
        }
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    Rows offsets(table.target_rows.numel() + 1, 0);
    Rows neighbours;
    for (const auto& [target, neighbour] : links) {
        ++offsets[target + 1];
        neighbours.push_back(neighbour);
    }
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    table.neighbour_offsets = int32_tensor(offsets);
    table.neighbours = int32_tensor(neighbours);
}

} // namespace

AnodeCells find_anode_cells(const WireAnode& anode, const std::vector<ChannelView>& views) {
    const RowNumbers numbers(views);
    AnodeCells result;
    for (const WireFace& face : anode.faces) {
        const FaceCells cells = find_cells(face);
        const std::array<Rows, 3> rows{numbers.of_wires(face.plane(0)), numbers.of_wires(face.plane(1)),
                                       numbers.of_wires(face.plane(2))};
        result.clamped += cells.clamped;
        for (std::size_t cell = 0; cell < cells.size(); ++cell) {
            const std::array<std::int32_t, 3> row{
                rows[0][cells.wires[0][cell]], rows[1][cells.wires[1][cell]], rows[2][cells.wires[2][cell]]};
            if (std::min({row[0], row[1], row[2]}) == no_row) {
                ++result.without_row;
                continue;
            }
            for (int plane = 0; plane < 3; ++plane) {
                result.rows[plane].push_back(row[plane]);
            }
        }
    }
    return result;
}

WireCrossings make_wire_crossings(const WireAnode& anode, const std::vector<ChannelView>& views,
                                  const AnodeCells& cells, int target_plane) {
    if (target_plane < 0 || target_plane > 2) {
        throw Error(ErrorKind::Configuration, {.what = "no such target plane",
                                               .where = "coincidence",
                                               .seen = std::to_string(target_plane),
                                               .expected = "0 (U), 1 (V) or 2 (W)"});
    }
    WireCrossings table;
    table.target_plane = target_plane;
    table.auxiliary_planes = {target_plane == 0 ? 1 : 0, target_plane == 2 ? 1 : 2};
    const RowNumbers numbers(views);
    Rows target_rows;
    const Rows positions = target_positions(views, target_plane, target_rows);
    table.target_rows = int32_tensor(target_rows);
    fill_pairs(cells, positions, table);
    fill_neighbours(anode, numbers, positions, table);
    return table;
}

} // namespace spng
