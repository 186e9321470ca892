// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/no_tile_mp_coincidence.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/coincidence/bit_ticks.h"
#include "spng/nodes/coincidence/group_crossings.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <algorithm>

namespace spng {
namespace {

/// The products are for one of the groups. Use the largest group as the worst case.
std::vector<PlannedSet> plan_memory(const NoTileMPCoincidenceConfig&, PlannedCall& call) {
    PlannedTensor target = call.inputs.at(0).at(0);
    for (const auto& set : call.inputs) {
        target = set.at(0).samples() > target.samples() ? set.at(0) : target;
    }
    const auto working = call.scratch(MemoryUse::masks, target.samples());
    return {{call.make(target, MemoryUse::masks, 1), call.make(target, MemoryUse::masks, 1)}};
}

/// Return the packed masks (row, word) of a tensor.
at::Tensor packed(const NamedTensor& tensor, bool dead_is_hit) {
    return pack_ticks(dead_is_hit ? tensor.data | tensor.channels->good.logical_not().unsqueeze(-1)
                                  : tensor.data)
        .flatten(0, 1);
}

const Registration<NoTileMPCoincidence> registration{
    {.type = "SPNGNoTileMPCoincidence",
     .kind = "coincidence",
     .inputs = {"*"},
     .outputs = {"products"},
     .text = "multi-plane coincidence of ROIs, MP0 to MP3",
     .memory = memory_rule<NoTileMPCoincidence>({.call = plan_memory})}};

} // namespace

void NoTileMPCoincidence::configured() {
    const auto& inputs = config().input_groups;
    const auto found = std::find(inputs.begin(), inputs.end(), config().target_group);
    if (found == inputs.end()) {
        reject("target_group", "'" + config().target_group + "'", "one of input_groups: " + joined(inputs),
               suggestion(config().target_group, inputs));
    }
    m_target = static_cast<std::size_t>(found - inputs.begin());
    for (const auto& product : config().products) {
        m_products.push_back(product.back() - '0');
    }
}

void NoTileMPCoincidence::require_groups_of_anodes(const ViewGroups& groups) const {
    const auto& anodes = groups.group(config().target_group, at_key("target_group")).anodes;
    for (const auto& group : groups.groups()) {
        const bool meets = std::find_first_of(group.anodes.begin(), group.anodes.end(), anodes.begin(),
                                              anodes.end()) != group.anodes.end();
        const auto& inputs = config().input_groups;
        if (meets && std::find(inputs.begin(), inputs.end(), group.name) == inputs.end()) {
            reject("input_groups", joined(inputs),
                   "all groups of " + groups.name().text() +
                       " with views of the target's anodes, including " + group.name);
        }
    }
}

void NoTileMPCoincidence::prepare_node(Environment& environment) {
    const auto& service = environment.service<ViewGroups>(config().groups, at_key("groups"));
    require_groups_of_anodes(service);
    std::vector<AnodeView> views;
    std::size_t first_view = 0, count = 0;
    for (std::size_t port = 0; port < config().input_groups.size(); ++port) {
        const auto& group = service.group(config().input_groups[port], at_key("input_groups"));
        if (port == m_target) {
            first_view = views.size();
            count = group.views.size();
        }
        for (std::size_t view = 0; view < group.views.size(); ++view) {
            views.push_back({&group.anodes[view]->wires(), group.views[view]});
        }
    }
    const auto crossings = find_group_crossings(views, first_view, count);
    m_table =
        make_coincidence_table(crossings.offsets, crossings.pairs, crossings.rows).to(context().device());
    m_neighbours = crossings.neighbours.to(context().device());
}

Ports NoTileMPCoincidence::process(const Ports& inputs) {
    const NamedTensor& target = inputs[m_target]->only();
    const std::int64_t ticks = target.data.size(2);
    std::vector<at::Tensor> masks;
    at::Tensor target_mask;
    {
        NVTX_SCOPED_RANGE("NoTileMPCoincidence::pack");
        for (const auto& input : inputs) {
            masks.push_back(packed(input->only(), config().dead_is_hit));
        }
        target_mask = config().dead_is_hit ? packed(target, false) : masks[m_target];
    }
    at::Tensor crossing;
    {
        NVTX_SCOPED_RANGE("NoTileMPCoincidence::gather_channels");
        crossing = coincidence(at::cat(masks), m_table);
        if (config().wire_tolerance > 0) {
            crossing = or_neighbours(crossing, m_neighbours);
        }
    }
    NVTX_SCOPED_RANGE("NoTileMPCoincidence::unpack");
    const at::Tensor products = unpack_ticks(multi_plane(target_mask, crossing, ticks, m_products), ticks);
    Notes notes;
    for (const auto& set : inputs) {
        merge_notes(notes, set->only().notes);
    }
    std::vector<NamedTensor> tensors;
    for (std::size_t i = 0; i < m_products.size(); ++i) {
        NamedTensor product;
        product.name = config().products[i];
        product.data = products[static_cast<std::int64_t>(i)].view(target.data.sizes());
        product.axes = target.axes;
        product.channels = target.channels;
        product.notes = notes;
        tensors.push_back(std::move(product));
    }
    return {std::make_shared<const TensorSet>(inputs[m_target]->event_ptr(), std::move(tensors))};
}

} // namespace spng
