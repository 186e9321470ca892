// SPDX-License-Identifier: Apache-2.0
#pragma once
// Channels of an anode and their order in tensors. A view is a list of channels in which neighbouring rows
// are neighbouring wires in space, as the deconvolution over channels requires.

#include "spng/detector/wires.h"

#include <vector>

namespace spng {

/// Order of the rows of a view: one block per face.
struct ViewConfig {
    int plane = 0;          ///< 0 U, 1 V, 2 W
    std::vector<int> faces; ///< ident of the face of each block
    std::vector<int> order; ///< of each block: +1 by increasing pitch, -1 reversed
};

/// The rows of a view.
struct ChannelView {
    int plane = 0;
    std::vector<int> channels; ///< channel id of each row
    bool wrapped = false;      ///< some channel has wires on several faces
};

/// Return all channels with a wire on the anode, each once, ascending: the channel order of output frames.
std::vector<int> anode_channels(const WireAnode& anode);

/// Return the channels whose segment 0, the one next to the electronics, is in the plane of this face, by
/// increasing pitch: the "wire attachment number" (WAN) order. A channel with several such wires (jumpered strips)
/// has the position of the first.
/// @throws Error(Configuration) if there is no such plane
std::vector<int> attached_channels(const WireFace& face, int plane);

/// Make the rows of a view. ProtoDUNE-HD U, for example: faces [1, 0] and order [-1, +1] give channels 0..799
/// on anode 0.
/// @throws Error(Configuration) for a missing face or plane, no face at all, lists of different lengths, an
/// order other than +1 or -1, and a channel in two blocks
ChannelView make_view(const WireAnode& anode, const ViewConfig& config);

} // namespace spng
