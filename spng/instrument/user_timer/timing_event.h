// SPDX-License-Identifier: Apache-2.0
#pragma once
// The time of a section of code, on the host or on a device, from an event before and an event after it:
//
//     TimingEvent begin(device), end(device);
//     begin.record();
//     ...
//     end.record();
//     const double milliseconds = *begin.milliseconds_until(end);         // waits for the device
//     const auto so_far = begin.milliseconds_until(end, Wait::no);        // never waits
//
// Events recorded while their stream is captured into a CUDA graph become nodes of the graph. Their times are those of
// the graph's latest launch; before the first launch there are none.

#include <c10/core/Device.h>

#include <memory>
#include <optional>

namespace spng {

enum class Wait { no, yes };

/// A point in the work of a stream; on the CPU, in the time of the thread. Not thread-safe.
class TimingEvent {
public:
    explicit TimingEvent(c10::Device device);
    ~TimingEvent();
    TimingEvent(TimingEvent&&) noexcept;
    TimingEvent& operator=(TimingEvent&&) noexcept;

    c10::Device device() const { return m_device; }

    /// Put the point after all work queued on the current stream. May be repeated. Does not wait.
    /// @throws Error(Device) if the graph's event cannot be made; c10::Error if the device has no events
    void record();

    /// Tell whether the stream has passed the point. Does not wait. False before record().
    bool is_complete() const;
    /// Wait until the stream has passed the point. Not allowed while the stream is captured.
    void wait() const;

    /// Return the time between two points [ms], resolution about 0.5 us on a device and 0.1 us on the CPU.
    /// @return nothing if an event was not recorded, if their graph was not launched, or, with Wait::no, if the
    ///         device has not passed `end`
    /// @throws Error(Usage) for events of different devices, and if only one of them belongs to a graph
    std::optional<double> milliseconds_until(const TimingEvent& end, Wait wait = Wait::yes) const;

    class Point;

private:
    c10::Device m_device;
    std::unique_ptr<Point> m_point;
};

} // namespace spng
