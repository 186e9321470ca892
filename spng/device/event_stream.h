#pragma once
// One stream per event in flight: all work of an event is queued on its own stream, so that events overlap on
// the device and no tensor of an event ever crosses to another stream.

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <optional>

namespace spng {

class EventStream {
public:
    /// Takes a stream from the device's pool; on the CPU there is nothing to take.
    explicit EventStream(c10::Device device);

    /// While it lives, work of this thread goes to the event's stream.
    class Guard {
    public:
        explicit Guard(const EventStream& stream);

    private:
        std::optional<c10::StreamGuard> m_guard;
    };

private:
    std::optional<c10::Stream> m_stream;
};

/// Wait for all work queued on the device: what was prepared on the default stream is then visible to every
/// stream.
void wait_for_device(c10::Device device);

} // namespace spng
