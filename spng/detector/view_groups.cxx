// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/view_groups.h"

#include "spng/core/registry.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <set>

namespace spng {
namespace {

const Registration<ViewGroups> registration{
    {.type = "SPNGViewGroups", .kind = "service", .text = "assignment of channels to the rows of tensors"}};

} // namespace

void ViewGroups::configured() {
    std::set<std::string> views, groups;
    for (const auto& group : config().groups) {
        for (const auto& view : group.views) {
            if (!views.insert(view.name).second) {
                reject("groups", "two views called '" + view.name + "'", "names that differ");
            }
        }
        if (!groups.insert(group.name).second) {
            reject("groups", "two groups called '" + group.name + "'", "names that differ");
        }
    }
}

void ViewGroups::prepare(Environment& environment) {
    std::set<int> taken;
    for (const auto& group_config : config().groups) {
        ViewGroup group{group_config.name, {}, {}, {}, {}};
        for (const auto& view_config : group_config.views) {
            const auto& anode = environment.service<AnodePlane>(
                view_config.anode.empty() ? config().anode : view_config.anode, at_key("anode"));
            group.view_names.push_back(view_config.name);
            group.anodes.push_back(&anode);
            group.views.push_back(
                make_view(anode.wires(), {view_config.plane, view_config.faces, view_config.order}));
            for (const int channel : group.views.back().channels) {
                if (!taken.insert(channel).second) {
                    reject("groups",
                           "channel " + std::to_string(channel) + " in two views, one of them " +
                               view_config.name,
                           "each channel in one view");
                }
            }
        }
        const std::size_t rows = group.views.front().channels.size();
        group.ids = at::empty(
            {static_cast<std::int64_t>(group.views.size()), static_cast<std::int64_t>(rows)}, at::kInt);
        auto* id = group.ids.mutable_data_ptr<std::int32_t>();
        for (std::size_t view = 0; view < group.views.size(); ++view) {
            const auto& channels = group.views[view].channels;
            if (channels.size() != rows) {
                reject("groups",
                       group.view_names[view] + " with " + std::to_string(channels.size()) +
                           " channels beside " + group.view_names[0] + " with " + std::to_string(rows),
                       "the same count of channels in all views of a group", "put them in separate groups");
            }
            id = std::copy(channels.begin(), channels.end(), id);
        }
        m_groups.push_back(std::move(group));
    }
    gather_channels();
}

void ViewGroups::gather_channels() {
    for (const auto& group : m_groups) {
        for (const auto* anode : group.anodes) {
            if (std::find(m_anodes.begin(), m_anodes.end(), anode) == m_anodes.end()) {
                m_anodes.push_back(anode);
                m_channels.insert(m_channels.end(), anode->channels().begin(), anode->channels().end());
            }
        }
    }
    std::sort(m_channels.begin(), m_channels.end());
    // A channel of two anodes is one row. A channel in two views was rejected above.
    m_channels.erase(std::unique(m_channels.begin(), m_channels.end()), m_channels.end());
}

const ViewGroup& ViewGroups::group(const std::string& wanted, const std::string& asking) const {
    std::vector<std::string> names;
    for (const auto& group : m_groups) {
        if (group.name == wanted) {
            return group;
        }
        names.push_back(group.name);
    }
    throw Error(ErrorKind::Configuration, {.what = "unknown group of views",
                                           .where = asking,
                                           .seen = "'" + wanted + "'",
                                           .expected = "a group of " + name().text() + ": " + joined(names),
                                           .hint = suggestion(wanted, names)});
}

} // namespace spng
