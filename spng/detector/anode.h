#pragma once
// Channels of an anode and their order in tensors. A view is a list of channels such that neighbouring rows
// are neighbouring wires in space: that is what the deconvolution over channels needs.

#include "spng/detector/wires.h"

#include <vector>

namespace spng {

/// How the rows of a view are put together: blocks, one for each face, in this order.
struct ViewConfig {
    int plane = 0;          ///< 0 U, 1 V, 2 W
    std::vector<int> faces; ///< face idents, one for each block
    std::vector<int> order; ///< +1: increasing pitch; -1: reversed block; one for each face
};

/// The rows of a view.
struct ChannelView {
    int plane = 0;
    std::vector<int> channels; ///< channel number of each row
    bool wrapped = false;      ///< some channel has wires on both faces: the axis of rows closes on itself
};

/// All channels with a wire on the anode, each once, ascending: the channel order of output frames.
std::vector<int> anode_channels(const WireAnode& anode);

/// Channels whose first segment (segment 0, next to the electronics) lies in the plane of this face, by
/// increasing pitch: the "wire attachment number" order. A channel with several such wires (jumpered strips)
/// has the place of the first of them.
/// Throws Error(Configuration) when there is no such plane.
std::vector<int> attached_channels(const WireFace& face, int plane);

/// ProtoDUNE-HD U: faces [1, 0], order [-1, +1] gives channels 0..799 on anode 0.
/// Throws Error(Configuration) for faces or planes that do not exist, no face at all, lists of different
/// length, an order other than +1 or -1, and a channel in two blocks.
ChannelView make_view(const WireAnode& anode, const ViewConfig& config);

} // namespace spng
