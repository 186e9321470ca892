// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/anode.h"

#include "spng/core/error.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace spng {
namespace {

[[noreturn]] void fail(const WireAnode& anode, const ViewConfig& config, const std::string& what,
                       const std::string& seen, const std::string& expected) {
    throw Error(ErrorKind::Configuration, {.what = what,
                                           .where = "view of plane " + std::to_string(config.plane) +
                                                    ", anode " + std::to_string(anode.ident),
                                           .seen = seen,
                                           .expected = expected,
                                           .hint = "correct the view's faces and order"});
}

void check(const WireAnode& anode, const ViewConfig& config) {
    if (config.faces.empty() || config.faces.size() != config.order.size()) {
        fail(anode, config, "a view needs an order for each of its faces",
             std::to_string(config.faces.size()) + " faces, " + std::to_string(config.order.size()) +
                 " orders",
             "at least one face, and as many orders");
    }
    for (const int order : config.order) {
        if (order != 1 && order != -1) {
            fail(anode, config, "invalid order of a view's block", std::to_string(order),
                 "+1 (increasing pitch) or -1 (reversed)");
        }
    }
}

/// Return true if a channel has wires of the plane on more than one face.
bool is_wrapped(const WireAnode& anode, int plane, const std::unordered_set<int>& channels) {
    std::unordered_map<int, const WireFace*> face_of;
    for (const WireFace& face : anode.faces) {
        for (const Wire& wire : face.plane(plane).wires) {
            if (channels.contains(wire.channel) &&
                face_of.emplace(wire.channel, &face).first->second != &face) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

std::vector<int> anode_channels(const WireAnode& anode) {
    std::vector<int> channels;
    for (const WireFace& face : anode.faces) {
        for (const WirePlane& plane : face.planes) {
            for (const Wire& wire : plane.wires) {
                channels.push_back(wire.channel);
            }
        }
    }
    std::sort(channels.begin(), channels.end());
    channels.erase(std::unique(channels.begin(), channels.end()), channels.end());
    return channels;
}

std::vector<int> attached_channels(const WireFace& face, int plane) {
    std::vector<int> channels;
    std::unordered_set<int> seen;
    for (const Wire& wire : face.plane(plane).wires) {
        if (wire.segment == 0 && seen.insert(wire.channel).second) {
            channels.push_back(wire.channel);
        }
    }
    return channels;
}

ChannelView make_view(const WireAnode& anode, const ViewConfig& config) {
    check(anode, config);
    ChannelView view{.plane = config.plane, .channels = {}, .wrapped = false};
    std::unordered_set<int> taken;
    for (std::size_t block = 0; block < config.faces.size(); ++block) {
        std::vector<int> channels = attached_channels(anode.face(config.faces[block]), config.plane);
        if (config.order[block] < 0) {
            std::reverse(channels.begin(), channels.end());
        }
        for (const int channel : channels) {
            if (!taken.insert(channel).second) {
                fail(anode, config, "a channel is in two blocks of a view",
                     "channel " + std::to_string(channel), "each channel once");
            }
            view.channels.push_back(channel);
        }
    }
    view.wrapped = is_wrapped(anode, config.plane, taken);
    return view;
}

} // namespace spng
