// SPDX-License-Identifier: Apache-2.0
#pragma once
// Anodes of a wire file as the faces of one anode. Files of ProtoDUNE-VD list the halves of an anode separately: each with all of
// its induction strips and with its own half of the collection strips.

#include "spng/detector/wires.h"

#include <vector>

namespace spng {

/// Return an anode whose faces 0, 1, ... are the single faces of the anodes `parts`, in this order.
///
/// On each face, wires end where the area that its planes have in common ends: a rectangle in y and z, the intersection of the
/// extents of the planes, each half a pitch wider. Wires outside of it are left out. The piece of a channel on a later face
/// continues those on earlier faces: its segment is higher by their count.
/// @throws Error(Configuration) for an anode that does not exist, is listed twice or has not exactly one face, and for planes
/// without a common area, or with fewer than two wires in it
WireAnode joined_anode(const WireSchema& schema, int ident, const std::vector<int>& parts);

} // namespace spng
