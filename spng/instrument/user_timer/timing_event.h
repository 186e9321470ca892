#pragma once
// The time of any section of code, on the host or on a device, by a point before and a point after it:
//
//     TimingEvent begin(device), end(device);
//     begin.record();
//     ...
//     end.record();
//     const double milliseconds = *begin.milliseconds_until(end);         waits for the device
//     const auto so_far = begin.milliseconds_until(end, Wait::no);        never waits
//
// Recorded while their stream is captured into a CUDA graph, the events become nodes of the graph, and their
// times are those of its latest launch; before the first launch there is none.

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

    /// Put the point behind all work that is queued on the stream that is current now; may be repeated.
    /// Never waits. Throws Error(Device) where the device has no events, and what c10 throws.
    void record();
    bool is_recorded() const { return m_point != nullptr; }

    /// Whether the stream has passed the point. Never waits. False before record().
    bool is_complete() const;
    /// Wait until the stream has passed the point. Not allowed while the stream is captured.
    void wait() const;

    /// Time between two points, resolution about 0.5 us on a device and 0.1 us on the CPU.
    /// @return nothing when an event was never recorded; when their graph was never launched; and, with
    ///         Wait::no, when the device has not passed `end`
    /// Throws Error(Usage) for events of different devices, or of which one belongs to a graph and one does
    /// not.
    std::optional<double> milliseconds_until(const TimingEvent& end, Wait wait = Wait::yes) const;

    class Point;

private:
    c10::Device m_device;
    std::unique_ptr<Point> m_point;
};

} // namespace spng
