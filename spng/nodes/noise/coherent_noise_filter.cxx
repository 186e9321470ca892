// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/coherent_noise_filter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/view_groups.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"

#include <ATen/ops/tensor.h>

#include <algorithm>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const CoherentNoiseFilterConfig&, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::input, coherent_noise_buffers * adc.samples() * call.real);
    return {{call.make(adc, MemoryUse::input, call.real)}};
}

const Registration<CoherentNoiseFilter> registration{
    {.type = "SPNGCoherentNoiseFilter",
     .kind = "noise",
     .inputs = {"waveforms"},
     .outputs = {"waveforms"},
     .text = "subtracts the noise shared by the channels of a front-end board, with signal protection",
     .memory = memory_rule<CoherentNoiseFilter>({.call = plan_memory})}};

/// Return the value of a view from a list with one value per view or one for all.
std::int64_t value_for_view(const std::vector<std::int64_t>& list, std::size_t view) {
    return list.size() == 1 ? list[0] : list[view];
}

} // namespace

void CoherentNoiseFilter::configured() {
    m_rule = {config().threshold, config().common_threshold, config().half_smoothing, config().padding,
              config().min_fraction};
}

void CoherentNoiseFilter::prepare_node(Environment& environment) {
    const auto& service = environment.service<ViewGroups>(config().groups, at_key("groups"));
    const ViewGroup& group = service.group(config().group, at_key("group"));
    const std::size_t views = group.views.size();
    const auto require_one_per_view = [&](const char* key, const std::vector<std::int64_t>& list) {
        if (list.size() != 1 && list.size() != views) {
            reject(key, std::to_string(list.size()) + " values",
                   "one, or one for each of the " + std::to_string(views) + " views of '" + group.name + "'");
        }
    };
    require_one_per_view("board_channels", config().board_channels);
    require_one_per_view("board_shift", config().board_shift);
    const std::int64_t channels = group.ids.size(1);
    const std::int64_t members = config().board_channels[0];
    std::vector<std::int64_t> boards(static_cast<std::size_t>(group.ids.numel()), -1);
    for (std::size_t view = 0; view < views; ++view) {
        if (channels % members != 0 || value_for_view(config().board_channels, view) != members) {
            reject("board_channels", std::to_string(value_for_view(config().board_channels, view)),
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
                (index + channels - value_for_view(config().board_shift, view) % channels) % channels;
            boards[static_cast<std::size_t>(offset + slot)] = offset + static_cast<std::int64_t>(row);
        }
    }
    m_boards = at::tensor(boards, at::kLong).view({-1, members}).to(context().device());
}

Ports CoherentNoiseFilter::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("CoherentNoiseFilter::remove");
    NamedTensor tensor = inputs[0]->only();
    tensor.data =
        remove_coherent_noise(tensor.data.to(context().device()), tensor.channels->good, m_boards, m_rule);
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(tensor)})};
}

} // namespace spng
