#pragma once
// Device time of a section by a pair of events on the current stream, without waiting for the device and
// without linking a device library: c10 calls whatever device library is loaded.

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace spng::instrument {

/// Wait until all work on the stream that is current now is done.
void wait_for_current_stream(c10::Device device);

/// Two points in the work of one stream. Must not be used in a stream that is being captured into a CUDA
/// graph.
class DeviceSpan {
public:
    explicit DeviceSpan(c10::Device device);

    c10::Device device() const { return m_device; }

    /// Mark the begin on the stream that is current now; end() marks the same stream. Both throw c10::Error
    /// where the device has no events.
    void begin();
    void end();

    /// Whether the device has passed the end. Never waits.
    bool is_complete() const;
    /// Wait until the device has passed the end.
    void wait() const;
    /// Time between the marks, resolution about 0.5 us. Only when complete.
    std::int64_t nanoseconds() const;

private:
    c10::Device m_device;
    c10::Event m_begin;
    c10::Event m_end;
    std::optional<c10::Stream> m_stream;
};

/// Keeps spans for use again, since making a device event costs microseconds. Not thread-safe.
class DeviceSpanPool {
public:
    std::unique_ptr<DeviceSpan> take(c10::Device device);
    void give_back(std::unique_ptr<DeviceSpan> span);

private:
    std::vector<std::unique_ptr<DeviceSpan>> m_free;
};

} // namespace spng::instrument
