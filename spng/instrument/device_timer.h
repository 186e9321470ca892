// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device time between two events on the current stream. Needs no wait for the device and no link to a device
// library; c10 calls the loaded one.

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spng::instrument {

/// Block until all work on the current stream is done.
void wait_for_current_stream(c10::Device device);

/// Two marks in the work of one stream. Do not use during a capture into a CUDA graph.
class DeviceSpan {
public:
    explicit DeviceSpan(c10::Device device);

    c10::Device device() const { return m_device; }

    /// Mark the begin on the current stream; end() marks the same stream.
    /// @throws c10::Error if the device has no events
    void begin();
    void end();

    /// Whether the device has passed the end. Does not wait.
    bool is_complete() const;
    /// Block until the device has passed the end.
    void wait() const;
    /// Time between the marks [ns], resolution about 0.5 us. Call only if is_complete().
    std::int64_t nanoseconds() const;

private:
    c10::Device m_device;
    c10::Event m_begin;
    c10::Event m_end;
    std::optional<c10::Stream> m_stream;
};

/// Pool of spans, since the construction of a device event costs microseconds. Not thread-safe.
class DeviceSpanPool {
public:
    std::unique_ptr<DeviceSpan> take(c10::Device device);
    void give_back(std::unique_ptr<DeviceSpan> span);

private:
    std::vector<std::unique_ptr<DeviceSpan>> m_free;
};

} // namespace spng::instrument
