// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/no_tile_mp_coincidence.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/notes.h"
#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/encodings.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/coincidence/group_crossings.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>

namespace spng {
namespace {

/// The products are for one of the groups. Use the largest group as the worst case.
std::vector<PlannedSet> plan_memory(const NoTileMPCoincidenceConfig&, PlannedCall& call) {
    PlannedTensor target = call.inputs.at(0).at(0);
    std::int64_t bytes = 0;
    for (const auto& set : call.inputs) {
        target = set.at(0).samples() > target.samples() ? set.at(0) : target;
        bytes += planned_mask(call, set.at(0)).block->bytes();
    }
    // The masks of all groups, those with dead channels, and the crossings.
    const auto working = call.scratch(MemoryUse::masks, 3 * bytes);
    return {{planned_mask(call, target), planned_mask(call, target)}};
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
        m_rows.push_back(group.ids.size(1));
        for (std::size_t view = 0; view < group.views.size(); ++view) {
            views.push_back({&group.anodes[view]->wires(), group.views[view]});
        }
    }
    const auto crossings = find_group_crossings(views, first_view, count);
    m_table =
        make_coincidence_table(crossings.offsets, crossings.pairs, crossings.rows).to(context().device());
    m_neighbours = crossings.neighbours.to(context().device());
}

at::Tensor NoTileMPCoincidence::packed(const Ports& inputs, std::size_t port, double threshold,
                                       bool dead_is_hit) {
    const NamedTensor& tensor = inputs[port]->only();
    const std::int64_t ticks = mask_samples(tensor);
    at::Tensor mask = is_real(tensor.data) ? pack_ticks(tensor.data >= threshold) : packed_mask(tensor);
    at::Tensor dead; // undefined: 0
    if (dead_is_hit && mask.numel() > 0) {
        dead = m_full_rows.get(ticks, context().device(),
                               [&] { return pack_ticks(at::ones({ticks}, at::kBool)); });
        mask = at::where(tensor.channels->good.unsqueeze(-1), mask, dead);
    }
    if (mask.size(1) != m_rows[port]) {
        const auto shape = {mask.size(0), m_rows[port], mask.size(2)};
        const at::Tensor all = dead.defined() ? dead.expand(shape).clone() : at::zeros(shape, mask.options());
        all.narrow(1, tensor.channels->first_row, mask.size(1)).copy_(mask);
        mask = all;
    }
    return mask.flatten(0, 1);
}

Ports NoTileMPCoincidence::process(const Ports& inputs) {
    const NamedTensor& target = inputs[m_target]->only();
    const std::int64_t ticks = mask_samples(target);
    std::vector<at::Tensor> masks;
    at::Tensor target_mask;
    {
        NVTX_SCOPED_RANGE("NoTileMPCoincidence::pack");
        for (std::size_t port = 0; port < inputs.size(); ++port) {
            masks.push_back(packed(inputs, port, config().aux_threshold, config().dead_is_hit));
        }
        const bool same = !is_real(target.data) && !config().dead_is_hit;
        target_mask = same ? masks[m_target] : packed(inputs, m_target, config().target_threshold, false);
    }
    at::Tensor crossing;
    {
        NVTX_SCOPED_RANGE("NoTileMPCoincidence::gather_channels");
        crossing = coincidence(masks.size() == 1 ? masks.front() : at::cat(masks), m_table);
    }
    NVTX_SCOPED_RANGE("NoTileMPCoincidence::products");
    const at::Tensor products =
        multi_plane(target_mask, crossing, ticks, m_products,
                    config().wire_tolerance > 0 ? std::optional(m_neighbours) : std::nullopt);
    Notes notes;
    for (const auto& set : inputs) {
        merge_notes(notes, set->only().notes);
    }
    std::vector<NamedTensor> tensors;
    for (std::size_t i = 0; i < m_products.size(); ++i) {
        NamedTensor product = like(target, config().products[i], {});
        product.unit.clear();
        product.data = products[static_cast<std::int64_t>(i)].view(
            {target.data.size(0), m_rows[m_target], products.size(2)});
        if (target.data.size(1) != m_rows[m_target]) {
            product.data =
                product.data.narrow(1, target.channels->first_row, target.data.size(1)).contiguous();
        }
        product.encoding = PackedMask{ticks};
        product.notes = notes;
        tensors.push_back(std::move(product));
    }
    return output_of(inputs[m_target], std::move(tensors));
}

} // namespace spng
