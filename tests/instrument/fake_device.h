// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device of type PrivateUse1 that computes nothing but keeps time: tests move its clock
// and complete its work. It shows when the host would have waited, on machines without a
// device.

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <string>
#include <utility>

namespace fake_device {

inline constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;

struct State {
    double milliseconds = 0; ///< the device's clock
    bool complete = true;    ///< whether it has passed all marks
    bool has_events = true;
    int event_waits = 0;
    int stream_waits = 0;
    int device_waits = 0;
    int events_made = 0;
    int streams_taken = 0;      ///< from the device's pool
    std::string lost_because{}; ///< not empty: the device is lost, and waiting for it fails with this
};

inline State& state() {
    static State the_state;
    return the_state;
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
    c10::DeviceType type() const override { return fake_device::type; }
    c10::Device exchangeDevice(c10::Device) const override { return device(); }
    c10::Device getDevice() const override { return device(); }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const override { return current(); }
    c10::Stream exchangeStream(c10::Stream stream) const override { return std::exchange(current(), stream); }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
        static int latest = 0; // of the process, as a device's streams are
        ++state().streams_taken;
        return c10::Stream(c10::Stream::UNSAFE, device, ++latest);
    }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }

    void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag flag) const override {
        const bool timing = flag == c10::EventFlag::BACKEND_DEFAULT;
        TORCH_CHECK(state().has_events || !timing, "no timing events");
        if (*event == nullptr) {
            *event = new Mark;
            ++state().events_made;
        }
        *static_cast<Mark*>(*event) = {state().milliseconds, timing};
    }
    bool queryEvent(void*) const override { return state().complete; }
    void synchronizeEvent(void*) const override {
        ++state().event_waits;
        TORCH_CHECK(state().lost_because.empty(), state().lost_because);
        state().complete = true;
    }
    void synchronizeStream(const c10::Stream&) const override { ++state().stream_waits; }
    void synchronizeDevice(c10::DeviceIndex) const override {
        ++state().device_waits;
        TORCH_CHECK(state().lost_because.empty(), state().lost_because);
    }
    void* getStreamNativeHandle(const c10::Stream) const override { return &state(); }
    double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
        const auto& first = *static_cast<Mark*>(begin);
        const auto& last = *static_cast<Mark*>(end);
        TORCH_CHECK(first.has_time && last.has_time, "marks without a time");
        return last.milliseconds - first.milliseconds;
    }
    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
        delete static_cast<Mark*>(event);
    }

private:
    struct Mark {
        double milliseconds;
        bool has_time;
    };
    static c10::Stream& current() {
        static thread_local c10::Stream stream(c10::Stream::DEFAULT, device());
        return stream;
    }
    static c10::Device device() { return c10::Device(fake_device::type, 0); }
};

} // namespace fake_device
