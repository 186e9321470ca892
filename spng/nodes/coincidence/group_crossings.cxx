// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/group_crossings.h"

#include "spng/core/cache/cached_value.h"
#include "spng/core/cache/tensor_record.h"
#include "spng/core/files/sha256.h"
#include "spng/detector/wire_crossings.h"

#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace spng {
namespace {

/// Crossings of a plane, and the position of each row in them.
struct Plane {
    WireCrossings crossings;
    std::map<std::int32_t, std::int64_t> position_of_row;
};

/// Crossings of one anode. Internally it counts only the rows of this anode; arguments and results count the
/// rows of all anodes.
class AnodeCrossings {
public:
    AnodeCrossings(const WireAnode& anode, const std::vector<AnodeView>& views) : m_anode(anode) {
        std::int32_t row = 0;
        for (const auto& each : views) {
            for (std::size_t i = 0; i < each.view.channels.size(); ++i, ++row) {
                if (each.anode == &anode) {
                    m_own_row.emplace(row, static_cast<std::int32_t>(m_row.size()));
                    m_row.push_back(row);
                }
            }
            if (each.anode == &anode) {
                m_views.push_back(each.view);
            }
        }
        m_cells = find_anode_cells(anode, m_views);
    }

    /// Append the pairs of rows that cross row `row` of the plane.
    void append_pairs(int plane, std::int32_t row, std::vector<std::int32_t>& pairs) {
        const auto& crossings = of(plane).crossings;
        const std::int64_t position = position_of(plane, row);
        const auto* offset = crossings.offsets.const_data_ptr<std::int32_t>();
        const auto* pair = crossings.pairs.const_data_ptr<std::int32_t>();
        for (std::int32_t i = 2 * offset[position]; i < 2 * offset[position + 1]; ++i) {
            pairs.push_back(m_row[pair[i]]);
        }
    }

    /// Return the rows of the plane next to row `row`.
    std::vector<std::int32_t> neighbours(int plane, std::int32_t row) {
        const auto& crossings = of(plane).crossings;
        const std::int64_t position = position_of(plane, row);
        const auto* offset = crossings.neighbour_offsets.const_data_ptr<std::int32_t>();
        const auto* neighbour = crossings.neighbours.const_data_ptr<std::int32_t>();
        const auto* target_row = crossings.target_rows.const_data_ptr<std::int32_t>();
        std::vector<std::int32_t> rows;
        for (std::int32_t i = offset[position]; i < offset[position + 1]; ++i) {
            rows.push_back(m_row[target_row[neighbour[i]]]);
        }
        return rows;
    }

private:
    const Plane& of(int plane) {
        const auto found = m_planes.find(plane);
        if (found != m_planes.end()) {
            return found->second;
        }
        Plane found_plane{make_wire_crossings(m_anode, m_views, m_cells, plane), {}};
        const auto* row = found_plane.crossings.target_rows.const_data_ptr<std::int32_t>();
        for (std::int64_t i = 0; i < found_plane.crossings.target_rows.numel(); ++i) {
            found_plane.position_of_row.emplace(row[i], i);
        }
        return m_planes.emplace(plane, std::move(found_plane)).first->second;
    }

    std::int64_t position_of(int plane, std::int32_t row) {
        return of(plane).position_of_row.at(m_own_row.at(row));
    }

    const WireAnode& m_anode;
    std::vector<ChannelView> m_views;
    std::vector<std::int32_t> m_row;                ///< row among all anodes, by row of this anode
    std::map<std::int32_t, std::int32_t> m_own_row; ///< inverse of m_row
    AnodeCells m_cells;
    std::map<int, Plane> m_planes;
};

std::int64_t rows_before(const std::vector<AnodeView>& views, std::size_t end) {
    std::int64_t rows = 0;
    for (std::size_t view = 0; view < end; ++view) {
        rows += static_cast<std::int64_t>(views[view].view.channels.size());
    }
    return rows;
}

GroupCrossings computed_crossings(const std::vector<AnodeView>& views, std::size_t first_view,
                                  std::size_t count) {
    GroupCrossings group;
    group.first_row = rows_before(views, first_view);
    group.rows = rows_before(views, views.size());
    const std::int64_t end_row = rows_before(views, first_view + count);
    std::map<const WireAnode*, AnodeCrossings> anodes;
    std::vector<std::int32_t> offsets{0}, pairs;
    std::vector<std::vector<std::int32_t>> neighbours;
    std::size_t max_neighbours = 1;
    auto row = static_cast<std::int32_t>(group.first_row);
    for (std::size_t view = first_view; view < first_view + count; ++view) {
        const auto& [wires, target] = views[view];
        AnodeCrossings& anode = anodes.try_emplace(wires, *wires, views).first->second;
        for (std::size_t i = 0; i < target.channels.size(); ++i, ++row) {
            anode.append_pairs(target.plane, row, pairs);
            offsets.push_back(static_cast<std::int32_t>(pairs.size() / 2));
            neighbours.emplace_back();
            for (const std::int32_t beside : anode.neighbours(target.plane, row)) {
                if (beside >= group.first_row && beside < end_row) {
                    neighbours.back().push_back(static_cast<std::int32_t>(beside - group.first_row));
                }
            }
            max_neighbours = std::max(max_neighbours, neighbours.back().size());
        }
    }
    group.offsets = at::tensor(offsets, at::kInt);
    group.pairs = at::tensor(pairs, at::kInt).reshape({-1, 2});
    group.neighbours =
        at::full({static_cast<std::int64_t>(neighbours.size()), static_cast<std::int64_t>(max_neighbours)},
                 -1, at::kInt);
    auto* out = group.neighbours.mutable_data_ptr<std::int32_t>();
    for (const auto& list : neighbours) {
        std::copy(list.begin(), list.end(), out);
        out += max_neighbours;
    }
    return group;
}

/// Return the SHA-256 of all arguments of find_group_crossings().
std::string key_of(const std::vector<AnodeView>& views, std::size_t first_view, std::size_t count) {
    RecordWriter record;
    record.value(first_view);
    record.value(count);
    std::vector<const WireAnode*> anodes;
    for (const auto& [anode, view] : views) {
        record.value(view.plane);
        record.list(view.channels);
        record.value(view.wrapped);
        const auto found = std::find(anodes.begin(), anodes.end(), anode);
        record.value(found - anodes.begin());
        if (found == anodes.end()) {
            WireAnode wires = *anode;
            visit(record, wires);
            anodes.push_back(anode);
        }
    }
    return sha256(record.text());
}

} // namespace

GroupCrossings find_group_crossings(const std::vector<AnodeView>& views, std::size_t first_view,
                                    std::size_t count) {
    const auto visit_crossings = [](auto& record, GroupCrossings& crossings) {
        record.value(crossings.first_row);
        record.value(crossings.rows);
        visit_tensor(record, crossings.offsets);
        visit_tensor(record, crossings.pairs);
        visit_tensor(record, crossings.neighbours);
    };
    constexpr const char* kind = "crossings";
    const std::string key = key_of(views, first_view, count);
    if (auto kept = find_value<GroupCrossings>(kind, key, visit_crossings)) {
        return std::move(*kept);
    }
    GroupCrossings crossings = computed_crossings(views, first_view, count);
    keep_value(kind, key, crossings, visit_crossings);
    return crossings;
}

} // namespace spng
