// SPDX-License-Identifier: Apache-2.0
#pragma once
// One stream per event in flight: all work of an event is queued on its own stream. Events therefore overlap
// on the device, and no tensor of an event crosses to another stream (docs/decisions/streams.md).

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/StreamGuard.h>

#include <memory>
#include <optional>

namespace spng {

class EventStream {
public:
    /// Take a stream that no other EventStream of this device holds; do nothing on the CPU. Streams that were
    /// given back are reused first: LibTorch keeps the memory of freed tensors for the stream of their
    /// allocation, so a fresh stream for every event would need fresh memory for every event.
    explicit EventStream(c10::Device device);
    ~EventStream();
    EventStream(const EventStream&) = delete;
    EventStream& operator=(const EventStream&) = delete;

    /// Scope guard: work of this thread goes to the event's stream.
    class Guard {
    public:
        explicit Guard(const EventStream& stream);

    private:
        std::optional<c10::StreamGuard> m_guard;
    };

    /// Return a device event after all work queued so far. Its synchronize() waits for that work, and for
    /// nothing queued later or elsewhere. Null on the CPU.
    std::shared_ptr<const c10::Event> mark() const;

private:
    std::optional<c10::Stream> m_stream;
};

/// Wait for all work queued on the current stream of the device.
void wait_for_current_stream(c10::Device device);

/// Wait for all work queued on the device. Tensors prepared on the default stream are then visible to every
/// stream.
void wait_for_device(c10::Device device);

} // namespace spng
