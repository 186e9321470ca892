#pragma once

#include <string>

namespace spng {

/// What a node may be besides: one whose work on a device cannot always be recorded as a graph, because it
/// waits for the device, or queues other work from one call to the next.
class Uncapturable {
public:
    virtual ~Uncapturable() = default;

    /// Why not, in a few words ("the network is an AOTInductor package"); empty when it can. Asked after
    /// prepare().
    virtual std::string capture_rejection() const = 0;
};

} // namespace spng
