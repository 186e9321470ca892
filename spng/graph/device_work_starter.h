#pragma once

#include "spng/core/tensor_set.h"

#include <vector>

namespace spng {

/// What a node may be besides: the one that brings events onto the device. Behind it everything happens
/// there.
class DeviceWorkStarter {
public:
    virtual ~DeviceWorkStarter() = default;

    /// One set per output port, of the shapes, types and places that the events of the job are expected to
    /// have and of no content; nothing when it cannot know. With it, the chain is tried before the first
    /// event (warm_up.h). Asked after prepare().
    virtual std::vector<TensorSetPtr> example() const = 0;
};

} // namespace spng
