// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device section of a body: the nodes between the upload of an event and the packing of its frame, whose work can be
// captured into a CUDA graph.

#include "spng/graph/parts.h"

#include <string>
#include <vector>

namespace spng {

struct SectionRead {
    std::size_t slot;
    bool is_lent; ///< only a node that is not captured reads it, which copies what it needs
};

struct DeviceSection {
    std::vector<const Step*> before, inside, after; ///< the steps of the body in a possible order
    std::vector<std::size_t> entering;              ///< slots that the section reads and does not make
    std::vector<SectionRead> leaving;               ///< slots that the section makes for other nodes
    std::string rejection;                          ///< reason why the section is empty or cannot be captured
};

/// Find all steps behind a DeviceWorkStarter that are captured (ComponentType::is_captured) and not behind one that is
/// not. Reject the section if there are none, or if one of them cannot be captured.
/// @param parts  lives as long as the result
DeviceSection find_device_section(const Parts& parts);

} // namespace spng
