// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/user_timer/timing_event.h"

#include "spng/core/error.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/cuda_runtime.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <string>
#include <typeinfo>

namespace spng {

/// Base of the kinds of points: a time, an event of the stream, or a node of a CUDA graph.
class TimingEvent::Point {
public:
    virtual ~Point() = default;
    virtual void record(c10::Device device) = 0;
    virtual bool is_complete() const = 0;
    virtual void wait() const = 0;
    /// @param end  a point of the same kind
    virtual std::optional<double> milliseconds_until(const Point& end) const = 0;
};

namespace {

using Point = TimingEvent::Point;

class HostPoint final : public Point {
public:
    void record(c10::Device) override { m_time = instrument::wall_nanoseconds(); }
    bool is_complete() const override { return true; }
    void wait() const override {}
    std::optional<double> milliseconds_until(const Point& end) const override {
        return 1e-6 * static_cast<double>(static_cast<const HostPoint&>(end).m_time - m_time);
    }

private:
    std::int64_t m_time = 0;
};

class StreamPoint final : public Point {
public:
    explicit StreamPoint(c10::Device device) : m_event(device.type(), c10::EventFlag::BACKEND_DEFAULT) {}
    void record(c10::Device device) override {
        m_event.record(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
    }
    bool is_complete() const override { return m_event.query(); }
    void wait() const override { m_event.synchronize(); }
    std::optional<double> milliseconds_until(const Point& end) const override {
        return m_event.elapsedTime(static_cast<const StreamPoint&>(end).m_event);
    }

private:
    c10::Event m_event;
};

[[noreturn]] void reject(const char* what, const std::string& seen, const char* expected) {
    throw Error(ErrorKind::Device,
                {.what = what, .where = "TimingEvent", .seen = seen, .expected = expected});
}

class GraphPoint final : public Point {
public:
    explicit GraphPoint(const instrument::CudaRuntime& runtime) : m_runtime(runtime) {
        check(runtime.event_create(&m_event, 0), "an event cannot be made");
    }
    ~GraphPoint() override { m_runtime.event_destroy(m_event); }
    GraphPoint(const GraphPoint&) = delete;
    GraphPoint& operator=(const GraphPoint&) = delete;

    void record(c10::Device device) override {
        const auto stream = instrument::current_cuda_stream(device);
        check(m_runtime.event_record(m_event, stream.handle, instrument::cuda_event_record_external),
              "an event cannot be recorded into the graph");
    }
    bool is_complete() const override {
        const int status = m_runtime.event_query(m_event);
        if (status != instrument::cuda_not_ready) {
            check(status, "an event cannot be queried");
        }
        return status == 0;
    }
    void wait() const override {
        check(m_runtime.event_synchronize(m_event), "an event cannot be waited for");
    }
    std::optional<double> milliseconds_until(const Point& end) const override {
        float milliseconds = 0;
        const int status =
            m_runtime.event_elapsed(&milliseconds, m_event, static_cast<const GraphPoint&>(end).m_event);
        if (status == instrument::cuda_invalid_handle) {
            return std::nullopt; // no launch of the graph yet
        }
        check(status, "the time between two events of a graph cannot be read");
        return milliseconds;
    }

private:
    static void check(int status, const char* what) {
        if (status != 0) {
            reject(what, "CUDA error " + std::to_string(status), "success");
        }
    }

    const instrument::CudaRuntime& m_runtime;
    void* m_event = nullptr;
};

} // namespace

TimingEvent::TimingEvent(c10::Device device) : m_device(device) {}
TimingEvent::~TimingEvent() = default;
TimingEvent::TimingEvent(TimingEvent&&) noexcept = default;
TimingEvent& TimingEvent::operator=(TimingEvent&&) noexcept = default;

void TimingEvent::record() {
    const bool in_graph = instrument::is_capturing(m_device);
    const bool is_of_graph = dynamic_cast<const GraphPoint*>(m_point.get()) != nullptr;
    if (m_point == nullptr || in_graph != is_of_graph) {
        if (m_device.is_cpu()) {
            m_point = std::make_unique<HostPoint>();
        } else if (in_graph) {
            m_point = std::make_unique<GraphPoint>(*instrument::cuda_runtime());
        } else {
            m_point = std::make_unique<StreamPoint>(m_device);
        }
    }
    m_point->record(m_device);
}

bool TimingEvent::is_complete() const {
    return m_point != nullptr && m_point->is_complete();
}

void TimingEvent::wait() const {
    if (m_point != nullptr) {
        m_point->wait();
    }
}

std::optional<double> TimingEvent::milliseconds_until(const TimingEvent& end, Wait wait) const {
    const auto reject_pair = [](const char* what, const std::string& seen, const char* expected) {
        throw Error(
            ErrorKind::Usage,
            {.what = what, .where = "TimingEvent::milliseconds_until", .seen = seen, .expected = expected});
    };
    if (m_device != end.m_device) {
        reject_pair("the two events belong to different devices",
                    m_device.str() + " and " + end.m_device.str(), "events of one device");
    }
    if (m_point == nullptr || end.m_point == nullptr) {
        return std::nullopt;
    }
    if (typeid(*m_point) != typeid(*end.m_point)) {
        reject_pair("one event belongs to a graph and one does not",
                    "one event recorded during a capture, one outside",
                    "both events recorded during one capture, or none");
    }
    if (wait == Wait::yes) {
        end.wait();
    } else if (!end.is_complete()) {
        return std::nullopt;
    }
    return m_point->milliseconds_until(*end.m_point);
}

} // namespace spng
