// SPDX-License-Identifier: Apache-2.0
#pragma once
// Assignment of channels to the rows of tensors. Views of equal shape form one tensor (view, channel, tick),
// so that equal work is done at once. ProtoDUNE-HD has an induction group (2, 800) with views U and V, and a
// collection group (2, 480) with one view per face. A group may have views of several anodes.

#include "spng/core/tensor_set.h"
#include "spng/detector/anode.h"
#include "spng/detector/anode_plane.h"

#include <string>
#include <vector>

namespace spng {

struct NamedViewConfig {
    std::string name;
    int plane = 0;
    std::vector<int> faces;
    std::vector<int> order;
    std::string anode;
    static constexpr auto fields() {
        using C = NamedViewConfig;
        return std::make_tuple(
            field(&C::name, "name", "", required(), "name of the view"),
            field(&C::plane, "plane", "", between(0, 2), "0 U, 1 V, 2 W"),
            field(&C::faces, "faces", "", required(at_least(0)), "faces of the view, one block of rows each"),
            field(&C::order, "order", "", required(between(-1, 1)),
                  "order of each block: +1 by increasing pitch, -1 reversed"),
            field(&C::anode, "anode", "", any(),
                  "name of the view's AnodePlane component; empty: the common one"));
    }
};

struct ViewGroupConfig {
    std::string name;
    std::vector<NamedViewConfig> views;
    static constexpr auto fields() {
        using C = ViewGroupConfig;
        return std::make_tuple(field(&C::name, "name", "", required(), "name of the group"),
                               field(&C::views, "views", "", required(),
                                     "views of the group, all with the same count of channels"));
    }
};

struct ViewGroupsConfig {
    std::string anode = "AnodePlane";
    std::vector<ViewGroupConfig> groups;
    static constexpr auto fields() {
        using C = ViewGroupsConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(),
                  "name of the AnodePlane component of views without their own"),
            field(&C::groups, "groups", "", required(), "groups of views, each one tensor"));
    }
};

struct ViewGroup {
    std::string name;
    std::vector<std::string> view_names;
    std::vector<ChannelView> views;
    std::vector<const AnodePlane*> anodes; ///< of each view
    at::Tensor ids;                        ///< (view, channel) int32 on the host
};

class ViewGroups : public ServiceWith<ViewGroupsConfig> {
public:
    /// @throws Error(Configuration) if views of one group have different counts of channels, a channel is in
    /// two views, or a name is used twice
    void prepare(Environment& environment) override;

    /// Return the anodes of all views, each once, in the order in which views name them.
    const std::vector<const AnodePlane*>& anodes() const { return m_anodes; }
    /// Return all channels of these anodes, ascending, including channels without a view: the rows of output
    /// frames.
    const std::vector<int>& channels() const { return m_channels; }
    const std::vector<ViewGroup>& groups() const { return m_groups; }
    /// Return the group of that name.
    /// @param asking  the component that uses it, named in errors
    /// @throws Error(Configuration) if there is none; names the nearest
    const ViewGroup& group(const std::string& name, const std::string& asking) const;

protected:
    void configured() override;

private:
    void gather_channels();

    std::vector<ViewGroup> m_groups;
    std::vector<const AnodePlane*> m_anodes;
    std::vector<int> m_channels;
};

/// Return the group of a component with the keys groups and group.
/// @param name  of the component, for errors
template <class Config>
const ViewGroup& group_of(const Config& config, Environment& environment, const std::string& name) {
    return environment.service<ViewGroups>(config.groups, name + ", key groups")
        .group(config.group, name + ", key group");
}

} // namespace spng
