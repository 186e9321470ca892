#pragma once

namespace spng {

/// What a node may be besides: one whose output tensors lie on the host and are still being copied there when
/// its call returns. They are complete when the event's stream has come as far as it was at that time. The
/// engines wait for that before they call the nodes behind it, and for nothing else between source and sink.
class AsynchronousOutput {
public:
    virtual ~AsynchronousOutput() = default;
};

} // namespace spng
