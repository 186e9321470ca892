// SPDX-License-Identifier: Apache-2.0
#pragma once
// The captures of a device section, by the shape of the events: which to keep, to drop, and to try again.

#include "spng/core/backoff.h"
#include "spng/core/log/log.h"
#include "spng/core/report.h"
#include "spng/device/device_graph.h"
#include "spng/engine/body/output_template.h"
#include "spng/engine/body/static_inputs.h"

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// A CUDA graph with the memory that it reads and writes.
struct Capture {
    Capture(const Ports& ports, c10::Device device) : inputs(ports, device) {}
    StaticInputs inputs;
    Reports reports;
    std::unique_ptr<DeviceGraph> graph;
    std::optional<OutputTemplate> outputs;
    std::optional<c10::Event> last_use; ///< after the latest replay; none on the CPU
    std::uint64_t last_request = 0;     ///< value of m_requests at the last use
    bool is_taken = true;
};

/// The outputs of the nodes cannot be repeated for other events, whatever the device does.
class UnusableOutputs : public Error {
public:
    explicit UnusableOutputs(std::string reason) : Error(ErrorKind::Internal, {.what = std::move(reason)}) {}
};

/// Thread-safe.
///
/// A rejected capture is tried again later: after `first_pause` events, then after twice as many, and so on. Each capture
/// has the memory of an event. If memory runs out, in a capture or for an event, the capture that was used longest ago is
/// dropped, until none is left.
class Captures {
public:
    /// Maximum number of shapes with captures. For a further shape the least recently used one is dropped, but
    /// none whose capture the device has rejected recently.
    static constexpr std::size_t max_shapes = 4;
    /// Maximum number of captures for each shape: more would not overlap better.
    static constexpr std::size_t max_slots = 2;
    /// After memory ran out, no further captures are made for so many events, and for twice as many each
    /// time that it happens again later.
    static constexpr std::uint64_t first_pause = 32;
    /// Maximum number of events before a capture is tried again that was rejected or found no memory.
    static constexpr std::uint64_t max_pause = 1024;

    struct Limits {
        std::size_t slots = 1; ///< captures for each shape. The host uses a capture for one event at a time
        std::size_t captures = max_shapes * max_slots; ///< of all shapes together
    };
    /// Makes a capture for the events of a shape. is_ready: whether this thread has called the nodes; set.
    using Make = std::function<std::unique_ptr<Capture>(bool& is_ready)>;

    /// @param level  of log lines about captures that fail
    Captures(c10::Device device, Limits limits, log::Level level)
        : m_device(device), m_limits(limits), m_level(level) {}

    /// Take a capture of the shape, made if necessary.
    /// @return null if the nodes are to be called one by one
    Capture* take(const std::string& key, const Make& make);
    void give_back(Capture& capture);
    /// The nodes were called one by one for this shape, so that their tables exist.
    void note_call(const std::string& key);

    /// Drop captures: all, or the one that was used longest ago.
    void release_memory(bool all);
    /// Number of captures that were tried, also without success.
    std::uint64_t tried() const { return m_tried; }
    /// An event found no memory: drop the capture that was used longest ago.
    /// @param tried_before  tried() before the event
    /// @return false if that cannot help: none is left, and no capture of another thread kept the allocator from
    /// returning unused memory meanwhile
    bool make_memory(std::uint64_t tried_before);
    /// Number of shapes that are remembered.
    std::size_t shapes() const { return m_shapes.size(); }

private:
    struct Shape {
        std::uint64_t last_use = 0;   ///< value of m_requests at the last use
        std::uint64_t use_before = 0; ///< value of m_requests at the use before that
        bool was_called = false;      ///< note_call()
        std::size_t slots = 0;        ///< maximum number of captures, lowered when the device rejects one
        std::uint64_t retry_at = 0;   ///< value of m_requests from which `slots` is that of the limits again
        Backoff<> pauses{first_pause, max_pause};
        std::vector<std::unique_ptr<Capture>> captures{};
    };

    /// Capture for a shape, after dropping captures of other shapes if memory is missing.
    /// @return null if the device rejects the capture or has no memory for it
    Capture* try_capture(Shape& shape, const Make& make);
    /// Find or add the shape of this key. May drop another one.
    Shape& shape_of(const std::string& key);
    /// Make no captures of a shape for a while: none at all if that could not help.
    /// @param error  of the latest capture
    void reject_for_a_while(Shape& shape, const std::exception& error) const;
    static bool is_idle(const Capture& capture);
    std::size_t count() const;
    /// Whether one more capture may exist. May drop one of another shape.
    bool make_room(const Shape& shape);
    /// Drop the capture that was used longest ago.
    /// @param idle_before  only one that is idle and whose last use was before this request; else one that no
    /// thread uses, after waiting for the device's work with it
    bool drop_oldest(std::optional<std::uint64_t> idle_before = std::nullopt);
    /// Limit the captures to those that exist, for a while.
    void pause();
    /// @param idle_only  only a capture whose latest launch the device has finished
    static Capture* free_capture(Shape& shape, bool idle_only);

    const c10::Device m_device;
    const Limits m_limits;
    const log::Level m_level;
    std::mutex m_mutex;
    std::map<std::string, Shape> m_shapes; ///< by port_key
    std::uint64_t m_requests = 0;
    std::atomic<std::uint64_t> m_tried{0};
    std::size_t m_fitting = 0;      ///< number of captures for which memory sufficed, before m_pause_ends
    std::uint64_t m_pause_ends = 0; ///< value of m_requests
    std::uint64_t m_pause = 0;      ///< length of the latest pause [events]
    Backoff<> m_pauses{first_pause, max_pause};
};

} // namespace spng
