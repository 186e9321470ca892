#pragma once
// Which channels become which rows of which tensor. Views of equal shape are grouped in one tensor (view,
// channel, tick), so that equal work is done at once: PDHD has an induction group (2, 800) with views U and
// V, and a collection group (2, 480) with one view for each face. Views of several anodes may be in one
// group.

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
        return std::make_tuple(field(&C::name, "name", "", required(), "name of the view"),
                               field(&C::plane, "plane", "", between(0, 2), "0 U, 1 V, 2 W"),
                               field(&C::faces, "faces", "", Range{.low = 0, .required = true},
                                     "faces whose channels make the view, block after block"),
                               field(&C::order, "order", "", Range{.low = -1, .high = 1, .required = true},
                                     "of each block: +1 by increasing pitch, -1 reversed"),
                               field(&C::anode, "anode", "", any(),
                                     "name of the view's AnodePlane component; empty: that of all views"));
    }
};

struct ViewGroupConfig {
    std::string name;
    std::vector<NamedViewConfig> views;
    static constexpr auto fields() {
        using C = ViewGroupConfig;
        return std::make_tuple(
            field(&C::name, "name", "", required(), "name of the group"),
            field(&C::views, "views", "", required(), "its views, all with equally many channels"));
    }
};

struct ViewGroupsConfig {
    std::string anode = "AnodePlane";
    std::vector<ViewGroupConfig> groups;
    static constexpr auto fields() {
        using C = ViewGroupsConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(),
                  "name of the AnodePlane component, for views that name none"),
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
    /// Throws Error(Configuration) for views of one group that differ in their number of channels, a channel
    /// in two views, or a name used twice.
    void prepare(Environment& environment) override;

    /// The anodes of all views, each once, in the order in which views name them.
    const std::vector<const AnodePlane*>& anodes() const { return m_anodes; }
    /// All channels of these anodes, ascending, also those that no view holds: the rows of output frames.
    const std::vector<int>& channels() const { return m_channels; }
    const std::vector<ViewGroup>& groups() const { return m_groups; }
    /// Throws Error(Configuration) naming the nearest group and `asking`.
    const ViewGroup& group(const std::string& name, const std::string& asking) const;

protected:
    void configured() override;

private:
    void gather_channels();

    std::vector<ViewGroup> m_groups;
    std::vector<const AnodePlane*> m_anodes;
    std::vector<int> m_channels;
};

} // namespace spng
